/**
 * Unix seconds of a time in a header: ISO 8601 with a zone, or one of the three forms of an HTTP date that a recipient must accept
 * (RFC 9110, 5.6.7), also with a day of one digit, and with `UTC` or `+0000` for `GMT`, as some services write them. NaN for
 * anything else. `Date.parse` alone takes `5` for a date, and reads a time without a zone in that of the machine.
 */
export function headerTimeS(text: string): number {
  return Date.parse(parseable(text) ?? '') / 1000
}

const iso = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?([Zz]|[+-]\d{2}:?\d{2})$/
const httpDate =
  /^[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} (?:GMT|UTC|[+-]0000)$/
const rfc850 =
  /^[A-Z][a-z]{5,8}, \d{1,2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} (?:GMT|UTC|[+-]0000)$/
const asctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/

/** The text as `Date.parse` reads it in any zone of the machine; null for none of the forms. */
function parseable(text: string): string | null {
  if (httpDate.test(text) || iso.test(text)) return text
  if (rfc850.test(text)) return text.replaceAll('-', ' ')
  return asctime.test(text) ? `${text} GMT` : null
}
