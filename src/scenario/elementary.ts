// The exponential function and the natural logarithm with the same bits on every processor and Node version. `Math`'s
// own differ between platforms. @stdlib's are FreeBSD's msun in plain JavaScript. The build bundles them into this one
// file, so that the package does not depend on @stdlib's hundred small packages.
import stdlibExp from "@stdlib/math-base-special-exp";
import stdlibLn from "@stdlib/math-base-special-ln";

/** Returns e to the power of x. */
export const exp: (x: number) => number = stdlibExp;

/** Returns the natural logarithm of x; `NaN` below 0. */
export const ln: (x: number) => number = stdlibLn;
