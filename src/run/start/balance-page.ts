import { Reader } from '../../client/call/reader.ts'
import type { TlsTexts } from '../../client/wire/authorities.ts'
import type { Contract } from '../../contract/contract.ts'
import { placesOf } from '../../contract/price-evidence.ts'
import { type BalanceTerms, valuesOf } from '../../contract/prices.ts'
import { readNumber } from '../../money/rational.ts'
import { withoutHostile } from '../../user/hostile.ts'
import { jsonOf } from '../../user/json.ts'

/** Where a page is read, and with which key. */
export interface PageReader {
  readonly baseUrl: string
  readonly key: string | null
  readonly contract: Contract
  readonly tls: TlsTexts
}

const longestBody = 200

/**
 * A sentence on a page of the balance that answers, and has no number where the contract promises one. Null if it has each of them, or
 * does not answer. A value that is null may be known after the first charge.
 */
export async function pageIssue(
  balance: BalanceTerms,
  { baseUrl, key, contract, tls }: PageReader,
): Promise<string | null> {
  if (balance.get === null) return null
  const reader = new Reader(baseUrl, key, contract, { path: balance.get }, tls)
  try {
    const { columns, captured } = await reader.read()
    const body = captured?.body
    if (columns.status !== 200 || body === undefined || captured!.truncated) return null
    const page = jsonOf(body)
    const missing = valuesOf(balance).find(({ value }) => !isNumber(page, value))
    if (missing === undefined) return null
    const text = withoutHostile(body, () => ' ').trim()
    const shown = text.length > longestBody ? `${text.slice(0, longestBody)}…` : text
    const place = missing.value === null ? 'as its body' : `at ${missing.value}`
    return `GET ${baseUrl}${balance.get} answered 200 without a number ${place}, where the contract has the balance: ${shown}\nCorrect evidence.balance of the contract.`
  } finally {
    await reader.close()
  }
}

const isNumber = (page: unknown, place: string | null) =>
  place === null
    ? isNumberAt(page, null)
    : placesOf(place).every((each) => isNumberAt(page, each.place))

function isNumberAt(page: unknown, place: string | null): boolean {
  const value = (place === null ? [] : place.split('.')).reduce<unknown>(
    (found, step) => (found as Readonly<Record<string, unknown>> | null | undefined)?.[step],
    page,
  )
  return (
    value === null ||
    typeof value === 'number' ||
    (typeof value === 'string' && readNumber(value) !== null)
  )
}
