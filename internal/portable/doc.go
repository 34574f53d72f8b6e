// Package portable has the elementary functions with the same bits on every machine, so
// that a law decides the same everywhere and a simulation can be repeated anywhere.
//
// The functions of package math differ: some machines have them in assembly, and a processor may
// fuse a product and an addition, without rounding in between. This package uses only +, -, * and
// /, which IEEE 754 defines to the bit, and exact functions of package math, such as Frexp and
// Floor. A conversion rounds each product before it is added.
//
// [Log], [Exp] and [Expm1] are within 4 units in the last place of the functions of package math.
//
// The method is the classical one: the argument is reduced to around 0, by
// whole multiples of ln 2, where a power series converges fast.
//
// # Sources
//
// M. Abramowitz and I. Stegun: Handbook of Mathematical Functions, 1964, 4.1.27, 4.2.1
// and 4.3.65. The two parts of ln 2 are those of fdlibm, Sun Microsystems, 1993.
package portable
