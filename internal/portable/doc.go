// Package portable has the elementary functions with the same bits on every machine, so
// that a law decides the same everywhere and a simulation can be repeated anywhere.
//
// Those of package math do not have them: some machines have them in assembly, and a product that
// is added to something is computed in one where the processor can, without the rounding between.
// Here it is only +, -, * and /, which IEEE 754 defines to the bit, and the functions of package
// math that are exact, such as Frexp and Floor; a conversion has each product rounded before it is
// added to anything.
//
// [Log], [Exp] and [Expm1] are within 4 units in the last place of those of package math.
//
// The method is the classical one: the argument is reduced to around 0, by
// whole multiples of ln 2, where a power series converges fast.
//
// # Sources
//
// M. Abramowitz and I. Stegun: Handbook of Mathematical Functions, 1964, 4.1.27, 4.2.1
// and 4.3.65. The two parts of ln 2 are those of fdlibm, Sun Microsystems, 1993.
package portable
