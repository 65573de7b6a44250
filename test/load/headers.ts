// The headers of an answer to a REST call, as Go spells them.

export const eight = {
  "Ratelimit-Scope": "rest",
  "Ratelimit-Limit": "200",
  "Ratelimit-Remaining": "150",
  "Ratelimit-Reset": "33",
  "Ratelimit-User-Scope": "rest_user",
  "Ratelimit-User-Limit": "50",
  "Ratelimit-User-Remaining": "49",
  "Ratelimit-User-Reset": "33",
};
