import { type Rational, readNumber } from '../money/rational.ts'
import { isObject, type JsonObject } from '../user/json.ts'
import { suggestion } from '../user/nearest.ts'

/** Most significant digits of a number that is no text: those that a double keeps. */
const mostSignificant = 15

/** Reads values of a contract's prices, and collects every issue with its place. */
export class PriceReader {
  readonly issues: string[] = []
  readonly warnings: string[] = []

  issue(path: string, expected: string, observed: unknown): void {
    const shown = observed === undefined ? '' : `; got ${JSON.stringify(observed)}`
    this.issues.push(`  ${path}: expected ${expected}${shown}`)
  }

  /** A mapping with these words only; an empty one for any other value, with an issue. */
  mapping(value: unknown, path: string, words: readonly string[] | null): JsonObject {
    if (value === undefined || value === null) return {}
    if (!isObject(value)) {
      this.issue(path, 'a mapping', value)
      return {}
    }
    for (const key of words === null ? [] : Object.keys(value)) {
      if (!words!.includes(key))
        this.issues.push(
          `  ${path === '' ? key : `${path}.${key}`}: no such field. ${suggestion(key, words!)}`,
        )
    }
    return value
  }

  list(value: unknown, path: string): readonly unknown[] {
    if (value === undefined || value === null) return []
    if (Array.isArray(value)) return value
    this.issue(path, 'a list', value)
    return []
  }

  text(value: unknown, path: string, what: string): string | null {
    if (value === undefined || value === null) return null
    if (typeof value === 'string' && value !== '') return value
    this.issue(path, what, value)
    return null
  }

  /** One of some words; the first if it is absent. */
  word<Word extends string>(value: unknown, path: string, words: readonly Word[]): Word {
    if (value === undefined || value === null) return words[0]!
    const found = words.find((word) => word === value)
    if (found === undefined) {
      const meant = typeof value === 'string' ? ` ${suggestion(value, words)}` : ''
      this.issues.push(
        `  ${path}: expected ${words.join(', ').replace(/, ([^,]*)$/, ' or $1')}; got ${JSON.stringify(value)}.${meant}`,
      )
    }
    return found ?? words[0]!
  }

  /** A decimal of 0 or more: a number with at most 15 significant digits, or a text, which may be a fraction of two. */
  number(value: unknown, path: string): Rational | null {
    const text = typeof value === 'number' || typeof value === 'string' ? String(value) : ''
    const number = readNumber(text)
    if (number === null || number.numerator < 0n) {
      this.issue(path, 'a number of 0 or more, such as 2.5 or 1/3', value ?? null)
      return null
    }
    const digits = text
      .replace(/e.*$/i, '')
      .replace(/\D/g, '')
      .replace(/^0+|0+$/g, '')
    if (typeof value === 'number' && digits.length > mostSignificant) {
      this.issue(
        path,
        `at most ${mostSignificant} digits (more are noise of a float), or a text of all digits`,
        value,
      )
      return null
    }
    return number
  }

  wholeNumber(value: unknown, path: string, from: number, to: number): number | null {
    if (value === undefined || value === null) return null
    if (Number.isInteger(value) && (value as number) >= from && (value as number) <= to)
      return value as number
    this.issue(path, `a whole number from ${from} to ${to}`, value)
    return null
  }

  /** `2026-08-16T16:00:00Z`, or a day of UTC, as milliseconds. */
  moment(value: unknown, path: string): number | null {
    const text = value instanceof Date ? value.toISOString() : value
    const isMoment =
      typeof text === 'string' &&
      /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(text)
    const at = isMoment ? Date.parse(text) : Number.NaN
    if (!Number.isNaN(at)) return at
    this.issue(path, 'a time with its offset, such as 2026-12-01T00:00:00Z', value ?? null)
    return null
  }

  /** `60s`, `5m`, `500ms`, `1h`. */
  duration(value: unknown, path: string): number {
    if (value === undefined || value === null) return 0
    const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)$/.exec(String(value))
    if (match !== null)
      return Number(match[1]) * { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }[match[2] as 'ms']
    this.issue(path, 'a duration such as 60s', value)
    return 0
  }
}
