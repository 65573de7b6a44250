// Calls a deployment through go-buildkite, unchanged but for its base URL, and prints what it saw as JSON.
// The token comes from the environment, so that no process list shows it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/buildkite/go-buildkite/v4"
)

type seen struct {
	Status    buildkite.RateLimit `json:"status"`
	User      string              `json:"user"`
	Pipelines []string            `json:"pipelines"`
	Pages     int                 `json:"pages"`
	LastPage  int                 `json:"lastPage"`
	Provider  string              `json:"provider"`
	Builds    []int               `json:"builds"`
	Commit    string              `json:"commit"`
	NotFound  string              `json:"notFound"`
	// Answers to the calls that were made until one had been refused and tried again.
	Refused   int `json:"refused"`
	RetriedTo int `json:"retriedTo"`
}

// counting notes the status of every answer; the retries of go-buildkite pass through it.
type counting struct {
	statuses []int
}

func (c *counting) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(request)
	if err == nil {
		c.statuses = append(c.statuses, response.StatusCode)
	}
	return response, err
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	defer cancel()
	result, err := run(ctx, os.Getenv("TARGET"), os.Getenv("ORGANIZATION"), os.Getenv("TOKEN"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		os.Exit(1)
	}
}

func run(ctx context.Context, target, organization, token string) (*seen, error) {
	transport := &counting{}
	client, err := buildkite.NewOpts(
		buildkite.WithBaseURL(target+"/"),
		buildkite.WithTokenAuth(token),
		buildkite.WithHTTPClient(&http.Client{Transport: transport}),
	)
	if err != nil {
		return nil, err
	}
	result := &seen{}

	result.Status, _, err = client.RateLimit.Get(ctx, organization)
	if err != nil {
		return nil, fmt.Errorf("status: %w", err)
	}
	user, _, err := client.User.CurrentUser(ctx)
	if err != nil {
		return nil, fmt.Errorf("user: %w", err)
	}
	result.User = user.Name

	options := &buildkite.PipelineListOptions{ListOptions: buildkite.ListOptions{Page: 1, PerPage: 4}}
	for options.Page != 0 {
		pipelines, response, err := client.Pipelines.List(ctx, organization, options)
		if err != nil {
			return nil, fmt.Errorf("pipelines: %w", err)
		}
		for _, pipeline := range pipelines {
			result.Pipelines = append(result.Pipelines, pipeline.Slug)
			result.Provider = pipeline.Provider.ID
		}
		result.Pages++
		if response.LastPage > 0 {
			result.LastPage = response.LastPage
		}
		options.Page = response.NextPage
	}

	builds, _, err := client.Builds.ListByPipeline(ctx, organization, result.Pipelines[0], &buildkite.BuildsListOptions{
		ListOptions: buildkite.ListOptions{PerPage: 2},
	})
	if err != nil {
		return nil, fmt.Errorf("builds: %w", err)
	}
	for _, build := range builds {
		result.Builds = append(result.Builds, build.Number)
		result.Commit = build.Commit
	}

	_, _, err = client.Pipelines.Get(ctx, organization, "no-such-pipeline")
	var answer *buildkite.ErrorResponse
	if !errors.As(err, &answer) || answer.Response.StatusCode != http.StatusNotFound {
		return nil, fmt.Errorf("expected a 404, got %v", err)
	}
	result.NotFound = answer.Message

	// Until a call is refused: go-buildkite tries it again by itself, and the caller sees it succeed.
	for result.Refused == 0 {
		transport.statuses = nil
		_, response, err := client.User.CurrentUser(ctx)
		if err != nil {
			return nil, fmt.Errorf("retry: %w", err)
		}
		result.RetriedTo = response.StatusCode
		for _, status := range transport.statuses {
			if status == http.StatusTooManyRequests {
				result.Refused++
			}
		}
	}
	return result, nil
}
