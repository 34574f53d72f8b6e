package fleet

// Divide returns the part of a cap for one of n processes that share it equally: the cap divided by
// n, rounded down. It is 0 if there are more processes than slots. n below 1 counts as 1.
func Divide(limit, n int) int { return max(limit, 0) / max(n, 1) }
