import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readPriceLog } from '../../src/audit/evidence/prices/log.ts'
import { fetchLog } from '../../src/cli/usage/fetch-log.ts'
import { decimalText } from '../../src/money/rational.ts'
import type { Store } from '../../src/store/session/open.ts'

/** Texts that the service answers, by path. */
const texts: Record<string, string> = {
  '/log':
    '[\n{"request_id": "a", "spend": 0.1234567890123456789012345, "note": "]{\\"" },\n{"request_id": "b", "spend": 2e-7}\n]',
  '/log/a': '[{"request_id": "a", "spend": 1}]',
  '/log/b': '{"data": {"id": "b", "total_cost": 0.5}}',
  '/log/c': '[]',
  '/page': '<!doctype html><title>Sign in</title>',
}
let asked: string[] = []
let answerOf: (path: string) => string | undefined = () => undefined
const server = createServer((request, response) => {
  asked.push(`${request.url} ${request.headers.authorization ?? '-'}`)
  const text = answerOf(request.url!) ?? texts[request.url!]
  response.statusCode = request.url === '/secret' ? 403 : text === undefined ? 404 : 200
  response.end(text)
})
let base = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())

/** A store whose answers have these ids. */
const answered = (...ids: readonly string[]) =>
  ({ rows: async () => ids.map((id) => ({ id })) }) as unknown as Store
const terms = (get: string) => ({ get }) as never

test('a log in one piece is fetched once, and each digit of its numbers stays', async () => {
  asked = []
  const text = await fetchLog(answered(), ['r'], terms('/log'), `${base}/`)
  expect(asked).toHaveLength(1)
  const rows = readPriceLog(text, 'log', null)
  expect(rows.map(({ id, cost }) => [id, cost && decimalText(cost.value)])).toEqual([
    ['a', '0.1234567890123456789012345'],
    ['b', '0.0000002'],
  ])
})

test('a log by id is fetched for each answer; one without a row is left out', async () => {
  asked = []
  const text = await fetchLog(
    answered('a', 'b', 'c', 'd'),
    ['r'],
    terms('/log/{response.id}'),
    base,
  )
  expect(asked.map((each) => each.split(' ')[0]).sort()).toEqual([
    '/log/a',
    '/log/b',
    '/log/c',
    '/log/d',
  ])
  expect(readPriceLog(text, 'log', null).map(({ id }) => id)).toEqual(['a', 'b'])
})

test.each([
  ['rows', '{"rows": [{"id": "a", "cost": 1}, {"id": "b", "cost": 2}]}'],
  [
    'items of its data',
    '{"data": {"page": 1, "items": [{"id": "a", "cost": 1}, {"id": "b", "cost": 2}]}}',
  ],
  ['one row as its data', '{"data": {"id": "a", "cost": 1}}\n{"data": {"id": "b", "cost": 2}}'],
  [
    'a list of another name',
    '{"ok": true, "spend_logs": [{"id": "a", "cost": 1}, {"id": "b", "cost": 2}]}',
  ],
  [
    'a sum beside its rows',
    '{"cost": 3, "results": [{"id": "a", "cost": 1}, {"id": "b", "cost": 2}]}',
  ],
  [
    'rows with lists of their own',
    '{"id": "a", "cost": 1, "data": [{"id": "x", "cost": 9}]}\n{"id": "b", "cost": 2}',
  ],
])('a page that has %s is read as a file is, and as an answer is', async (_, page) => {
  const idsOf = (text: string) => readPriceLog(text, 'log', null).map(({ id }) => id)
  expect(idsOf(page)).toEqual(['a', 'b'])
  texts['/any'] = page
  if (!page.includes('\n'))
    expect(idsOf(await fetchLog(answered(), ['r'], terms('/any'), base))).toEqual(['a', 'b'])
})

test('a log in pages is read to its end, and one that shows a part of itself alone is refused', async () => {
  texts['/pages?p=1'] =
    '{"data": {"total": 3, "items": [{"id": "a", "cost": 1}, {"id": "b", "cost": 2}]}}'
  texts['/pages?p=2'] = '{"data": {"total": 3, "items": [{"id": "c", "cost": 1}]}}'
  texts['/pages?p=3'] = '{"data": {"total": 3, "items": []}}'
  asked = []
  const text = await fetchLog(answered(), ['r'], terms('/pages?p={page}'), base)
  expect(readPriceLog(text, 'log', null).map(({ id }) => id)).toEqual(['a', 'b', 'c'])
  expect(asked).toHaveLength(3)
  await expect(fetchLog(answered(), ['r'], terms('/pages?p=1'), base)).rejects.toThrow(
    /shows 2 rows and says that there are more\. Read it page by page/,
  )
})

test('a log whose last page answers every later number is read once', async () => {
  for (const [number, id] of [
    [1, 'a'],
    [2, 'b'],
    [3, 'b'],
  ] as const)
    texts[`/clamped?p=${number}`] =
      `{"data": {"page": ${number}, "items": [{"id": "${id}", "cost": 1}]}}`
  asked = []
  const text = await fetchLog(answered(), ['r'], terms('/clamped?p={page}'), base)
  expect(readPriceLog(text, 'log', null).map(({ id }) => id)).toEqual(['a', 'b'])
  expect(asked).toHaveLength(3)
})

test('rows that move to the next page, since the log grows, are read again and not twice', async () => {
  const row = (id: number) => `{"id": "${id}", "cost": ${id}}`
  const pages = [[row(3), row(2)], [row(2), row(1)], [], [row(4), row(3)], [row(2), row(1)], []]
  const growing = (turns: readonly (readonly string[])[]) => {
    let turn = 0
    return (request: string) =>
      request.startsWith('/growing') ? `{"rows": [${turns[turn++ % turns.length]}]}` : undefined
  }
  answerOf = growing(pages)
  const text = await fetchLog(answered(), ['r'], terms('/growing?p={page}'), base)
  expect(readPriceLog(text, 'log', null).map(({ id }) => id)).toEqual(['4', '3', '2', '1'])
  answerOf = growing(pages.slice(0, 3))
  await expect(fetchLog(answered(), ['r'], terms('/growing?p={page}'), base)).rejects.toThrow(
    /\/growing grows while it is read: a row of page 1 is on page 2, too\./,
  )
  answerOf = () => undefined
})

test('a log by id of answers without one is an error: nothing was asked', async () => {
  await expect(fetchLog(answered(), ['r'], terms('/log/{response.id}'), base)).rejects.toThrow(
    /no answer of these runs has one, so nothing was asked/,
  )
})

test.each([
  ['/page', /the service's log is not JSON, nor CSV; it begins with "<!doctype html/],
  ['/secret', /\/secret answered 403\. It needs a key that may read the log, in ASSAY_API_KEY\./],
])('a log that %s cannot give is one sentence', async (path, summary) => {
  await expect(fetchLog(answered(), ['r'], terms(path), base)).rejects.toThrow(summary)
})

test('a contract without a place of the log says what to add', async () => {
  await expect(fetchLog(answered(), ['r'], null, base)).rejects.toThrow(
    /the contract does not say where the log is\. Add evidence: \{ log:/,
  )
})

test('of new-api, a refund is paid back, and a purchase is no row of a request', () => {
  const row = (type: number, quota: number, id: string) =>
    JSON.stringify({ type, quota, request_id: id, model_name: 'big', created_at: 1_790_000_000 })
  const rows = readPriceLog(
    [row(2, 100, 'a'), row(6, 100, 'a'), row(1, 5000, 'bought'), row(5, 30, 'b')].join('\n'),
    'log',
    null,
  )
  expect(rows.map(({ id, cost }) => [id, cost?.text, cost && decimalText(cost.value)])).toEqual([
    ['a', '100', '100'],
    ['a', '-100', '-100'],
    ['b', '30', '30'],
  ])
})
