// Package guard makes memory for tests in which reading or writing behind the end
// is noticed.
package guard
