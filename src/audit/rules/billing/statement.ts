import { isList, isObject, type Json, type JsonObject } from '../../../user/json.ts'
import { type UsageReport, usageReports } from '../../evidence/usage/reports.ts'
import type { Evidence } from '../../rule.ts'

/** A change of a balance, as the credits endpoint lists it. */
export interface Movement {
  readonly credits: number
  /** The kind of change in the service's words: `grant`, `purchase`. */
  readonly kind: string
  /** All its other text. */
  readonly words: string
  /** Unix milliseconds; NaN if missing. */
  readonly atMs: number
}

/** Credits that came in together and expire together. */
export interface Lot {
  readonly source: string
  readonly credits: number
  readonly remaining: number | null
  /** Unix milliseconds; null never expires. */
  readonly expiresMs: number | null
}

/** The details that a response of the credits endpoint may give (gap G-09), by the words of its fields. */
export interface AccountStatement {
  readonly report: UsageReport
  /** Oldest first. */
  readonly movements: readonly Movement[]
  /** Whether the movements are complete: they add up to the balance. */
  readonly isWhole: boolean
  readonly lots: readonly Lot[]
}

export async function statementsOf(evidence: Evidence): Promise<readonly AccountStatement[]> {
  return (await usageReports(evidence)).map((report) => {
    const body = report.exchange.responseJson
    const lists = isObject(body) ? Object.values(body).filter(isList) : []
    const lines = lists.map((list) => list.filter(isObject))
    const movements = (lines.find((list) => list.some(isMovement)) ?? [])
      .filter(isMovement)
      .map(readMovement)
      .toSorted((a, b) => a.atMs - b.atMs)
    return {
      report,
      movements,
      isWhole:
        movements.length > 0 &&
        movements.reduce((sum, { credits }) => sum + credits, 0) === report.remaining,
      lots: (lines.find((list) => list.some(isLot)) ?? []).filter(isLot).map(readLot),
    }
  })
}

const amount = /^(?:credits|amount|delta|change)$/
const kind = /^(?:kind|type|reason)$/
const time = /^(?:at|time|date|timestamp|created_at)$/
const expiry = /^(?:expires?|expiry|expiration|valid_?until)(?:_?(?:at|on|date|time))?$/

const field = (line: JsonObject, pattern: RegExp): Json | undefined =>
  Object.entries(line).find(([name]) => pattern.test(name.toLowerCase()))?.[1]

function isMovement(line: JsonObject): boolean {
  return (
    typeof field(line, amount) === 'number' &&
    typeof field(line, kind) === 'string' &&
    typeof field(line, time) === 'string'
  )
}

function readMovement(line: JsonObject): Movement {
  return {
    credits: field(line, amount) as number,
    kind: field(line, kind) as string,
    words: Object.values(line)
      .filter((value) => typeof value === 'string')
      .join(' '),
    atMs: Date.parse(field(line, time) as string),
  }
}

function isLot(line: JsonObject): boolean {
  const expires = field(line, expiry)
  return typeof field(line, amount) === 'number' && (expires === null || isTime(expires))
}

/** A text with a year: `12` is no time. */
const isTime = (value: Json | undefined): value is string =>
  typeof value === 'string' && /\d{4}/.test(value) && !Number.isNaN(Date.parse(value))

function readLot(line: JsonObject): Lot {
  const expires = field(line, expiry)
  const remaining = field(line, /remaining|left/)
  return {
    source: String(field(line, /source|package|name|kind|type/) ?? ''),
    credits: field(line, amount) as number,
    remaining: typeof remaining === 'number' ? remaining : null,
    expiresMs: isTime(expires) ? Date.parse(expires) : null,
  }
}
