export declare function runJobsHere(): () => void;
