// The exponential function and the natural logarithm, the same bits on every processor and Node version: those of
// `Math` differ between platforms. @stdlib's are FreeBSD's msun in plain JavaScript; the build bundles them into this
// one file, so that the package does not bring @stdlib's hundred small packages with it.
import stdlibExp from "@stdlib/math-base-special-exp";
import stdlibLn from "@stdlib/math-base-special-ln";

/** e to the power of x. */
export const exp: (x: number) => number = stdlibExp;

/** The natural logarithm; `NaN` below 0. */
export const ln: (x: number) => number = stdlibLn;
