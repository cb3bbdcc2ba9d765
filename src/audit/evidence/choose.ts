const logFactorials = [0]

/** The natural logarithm of `of!`. */
export function logFactorial(of: number): number {
  for (let at = logFactorials.length; at <= of; at++)
    logFactorials.push(logFactorials[at - 1]! + Math.log(at))
  return logFactorials[of]!
}

/** The natural logarithm of the number of ways to choose `some` of `of`; minus infinity if there is none. */
export const logChoose = (of: number, some: number): number =>
  some < 0 || some > of
    ? Number.NEGATIVE_INFINITY
    : logFactorial(of) - logFactorial(some) - logFactorial(of - some)
