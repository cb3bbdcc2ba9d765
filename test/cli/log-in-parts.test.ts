import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { idsAt, type LogAnswer, logServer, rowOf } from './log-server.ts'

/** A log that a service shows in parts, in any of the usual ways, is read whole or not at all: half of it accuses the innocent. */

const parts = [['a', 'b'], ['c', 'd'], ['e']] as const
const all = ['a', 'b', 'c', 'd', 'e']
const rows = (nth: number) => `[${(parts[nth] ?? []).map(rowOf)}]`

/** Which part is asked for by a parameter, and what the answer says of the next one. */
const linked: Readonly<Record<string, (next: string | null) => LogAnswer | string>> = {
  'a link in the body': (next) => `{"data": ROWS, "next": ${JSON.stringify(next)}}`,
  'a link among links': (next) =>
    `{"results": ROWS, "links": {"self": "/log", "next": ${JSON.stringify(next)}}}`,
  'a link with href': (next) =>
    `{"items": ROWS, "_links": ${next === null ? '{}' : `{"next": {"href": "${next}"}}`}}`,
  'a link in the paging of its data': (next) =>
    `{"data": {"records": ROWS, "paging": {"next_url": ${JSON.stringify(next)}}}}`,
  'a header Link': (next) => ({
    headers: next === null ? {} : { link: `</log>; rel="first", <${next}>; rel="next"` },
    body: 'ROWS',
  }),
}

test.each(Object.entries(linked))('a log with %s is read to its end', async (_, answer) => {
  const { base, asked } = await logServer((path) => {
    const nth = Number(new URL(path, 'http://log').searchParams.get('part') ?? '0')
    const said = answer(nth < 2 ? `/log?part=${nth + 1}` : null)
    const of = typeof said === 'string' ? { body: said } : said
    return { ...of, body: String(of.body).replace('ROWS', rows(nth)) }
  })
  expect(await idsAt(base, '/log')).toEqual(all)
  expect(asked).toEqual(['/log', '/log?part=1', '/log?part=2'])
})

test('a link to another service is not followed: it would get the key', async () => {
  const other = await logServer(() => `[${rowOf('x')}]`)
  const { base } = await logServer(() => `{"data": ${rows(0)}, "next": "${other.base}/log"}`)
  await expect(idsAt(base, '/log')).rejects.toThrow(/--log: .* continues at another address/)
  expect(other.asked).toEqual([])
})

/** What each service calls the cursor, and where it says that there is no more. */
const cursors: Readonly<Record<string, (next: string | null, of: string) => string>> = {
  next_cursor: (next, of) => `{"data": ${of}, "next_cursor": ${JSON.stringify(next)}}`,
  nextPageToken: (next, of) =>
    `{"logs": ${of}${next === null ? '' : `, "nextPageToken": "${next}"`}}`,
  'next_page of Anthropic': (next, of) =>
    `{"data": ${of}, "has_more": ${next !== null}, "next_page": ${JSON.stringify(next)}}`,
  'last_id of OpenAI': (next, of) =>
    `{"object": "list", "data": ${of}, "first_id": "x", "last_id": "${next ?? 'e'}", "has_more": ${next !== null}}`,
  'an end cursor': (next, of) =>
    `{"items": ${of}, "pageInfo": {"hasNextPage": ${next !== null}, "endCursor": "${next ?? 'z'}"}}`,
  'a cursor beside an empty part': (next, of) =>
    `{"items": ${of}, "meta": {"next_token": ${JSON.stringify(next)}}}`,
}

test.each(Object.entries(cursors))('a log by %s is read to its end', async (name, page) => {
  const hasEmpty = name.endsWith('empty part')
  const { base, asked } = await logServer((path) => {
    const cursor = new URL(path, 'http://log').searchParams.get('after')
    const nth = cursor === null ? 0 : Number(cursor.slice(1))
    const last = hasEmpty ? 3 : 2
    const at = hasEmpty && nth > 0 ? nth - 1 : nth
    const of = hasEmpty && nth === 1 ? '[]' : rows(at)
    return page(nth < last ? `p${nth + 1}` : null, of)
  })
  expect(await idsAt(base, '/log?size=2&after={cursor}')).toEqual(all)
  expect(asked[0]).toBe('/log?size=2')
  expect(asked[1]).toBe('/log?size=2&after=p1')
  // Without the place of the cursor, the rest cannot be asked for.
  await expect(idsAt(base, '/log')).rejects.toThrow(
    /shows \d rows and says that there are more\..*\{cursor\}/,
  )
})

test('a log by the number of rows before is read to its end', async () => {
  const { base, asked } = await logServer((path) => {
    const offset = Number(new URL(path, 'http://log').searchParams.get('skip'))
    return `{"total": 5, "rows": [${all.slice(offset, offset + 2).map(rowOf)}]}`
  })
  expect(await idsAt(base, '/log?limit=2&skip={offset}')).toEqual(all)
  expect(asked.slice(0, 3)).toEqual([0, 2, 4].map((skip) => `/log?limit=2&skip=${skip}`))
})

test('pages may count from 0, and a log that lacks rows of its own total is refused', async () => {
  const { base } = await logServer((path) => {
    const page = Number(new URL(path, 'http://log').searchParams.get('p'))
    return `{"total": 5, "rows": ${rows(page)}}`
  })
  expect(await idsAt(base, '/log?p={page:0}')).toEqual(all)
  await expect(idsAt(base, '/log?p={page}')).rejects.toThrow(
    /shows 3 rows and says that it has 5\. .*\{page:0\}/,
  )
})

test('a page of which its service says that it is the last is not followed by another', async () => {
  const { base, asked } = await logServer((path) => {
    const page = Number(new URL(path, 'http://log').searchParams.get('p'))
    if (page > 3) return { status: 400, body: '{"error": "no such page"}' }
    return `{"total_pages": 3, "rows": ${rows(page - 1)}}`
  })
  expect(await idsAt(base, '/log?p={page}')).toEqual(all)
  expect(asked).toHaveLength(3)
})

test.each([
  ['a cursor', '{"data": ROWS, "next_cursor": "p2"}'],
  ['more', '{"data": ROWS, "hasMore": true}'],
  ['a part', '{"data": ROWS, "truncated": true}'],
  ['a total in its paging', '{"data": ROWS, "pagination": {"total_count": 240}}'],
  ['a number of pages in its meta', '{"data": ROWS, "meta": {"current_page": 1, "last_page": 3}}'],
  ['the next page', '{"data": ROWS, "next_page": 2}'],
])('one answer that says that it shows %s is refused', async (_, page) => {
  const { base } = await logServer(() => page.replace('ROWS', rows(0)))
  await expect(idsAt(base, '/log')).rejects.toThrow(/shows 2 rows and says that there are more/)
})

test.each([
  ['no more', '{"data": ROWS, "has_more": false, "next_cursor": null, "total": 2}'],
  ['its last id', '{"data": ROWS, "has_more": false, "last_id": "b"}'],
  ['the sum of its costs', '{"data": ROWS, "total": 2.75}'],
  ['its last page', '{"data": ROWS, "page": 1, "total_pages": 1, "next_page": null, "next": ""}'],
])('one answer that shows %s is whole', async (_, page) => {
  const { base } = await logServer(() => page.replace('ROWS', rows(0)))
  expect(await idsAt(base, '/log')).toEqual(['a', 'b'])
})

test('one answer with as many rows as were asked for may be a part', async () => {
  const { base } = await logServer(() => rows(0))
  await expect(idsAt(base, '/log?page_size=2')).rejects.toThrow(
    /shows as many rows as it was asked for \(page_size=2\)/,
  )
  expect(await idsAt(base, '/log?page_size=100')).toEqual(['a', 'b'])
})

const csv = 'id;cost;model\na;1;big\n"b";1;big\n'
test.each([
  ['lines of JSON', `${rowOf('a')}\n\n${rowOf('b')}\n`],
  ['CSV', csv],
  ['lines of JSON in an archive', gzipSync(`${rowOf('a')}\n${rowOf('b')}\n`)],
  ['JSON with a mark at its start', `\ufeff[${rowOf('a')}, ${rowOf('b')}]`],
  ['lists by day', `{"data": {"2026-11-29": [${rowOf('a')}], "2026-11-30": [${rowOf('b')}]}}`],
  ['rows by id', `{"logs": {"a": ${rowOf('a')}, "b": ${rowOf('b')}}}`],
  ['rows deep in it', `{"response": {"body": {"entries": [${rowOf('a')}, ${rowOf('b')}]}}}`],
  [
    'a sum and a day beside its rows',
    `{"date": "2026-11-30", "cost": 2, "logs": [${rowOf('a')}, ${rowOf('b')}]}`,
  ],
  [
    'its last rows again beside all',
    `{"items": [${rowOf('a')}, ${rowOf('b')}], "latest": [${rowOf('b')}]}`,
  ],
])('a log as %s is read by address as a file is', async (_, body) => {
  const { base } = await logServer(() => ({ body }))
  expect(await idsAt(base, '/log')).toEqual(['a', 'b'])
})

test('pages of CSV each have a head', async () => {
  const page = (...ids: readonly string[]) =>
    `id,cost,model\n${ids.map((id) => `${id},1,big\n`).join('')}`
  const { base } = await logServer((path) =>
    path.endsWith('=1') ? page('a', 'b') : path.endsWith('=2') ? page('c') : page(),
  )
  expect(await idsAt(base, '/log?p={page}')).toEqual(['a', 'b', 'c'])
})

test('`null` is a log without rows', async () => {
  const { base } = await logServer((path) => (path.endsWith('=1') ? `[${rowOf('a')}]` : 'null'))
  expect(await idsAt(base, '/log?p={page}')).toEqual(['a'])
})

const paramOf = (path: string, name: string) => new URL(path, 'http://log').searchParams.get(name)

/** A log that never ends, and what is said of it. */
const endless: Readonly<Record<string, readonly [get: string, answer: (path: string) => string]>> =
  {
    'a cursor that stays the same': [
      '/log?after={cursor}',
      () => `{"data": ${rows(0)}, "next_cursor": "p1"}`,
    ],
    'cursors in a circle': [
      '/log?after={cursor}',
      (path) => {
        const isFirst = paramOf(path, 'after') !== 'p1'
        return `{"data": ${rows(isFirst ? 0 : 1)}, "next_cursor": "${isFirst ? 'p1' : 'p2'}"}`
      },
    ],
    'a link to the same rows': ['/log', () => `{"data": ${rows(0)}, "next": "/log?part=1"}`],
    'new cursors and the same rows': [
      '/log?after={cursor}',
      (path) => `{"data": ${rows(0)}, "next_cursor": "${paramOf(path, 'after') ?? ''}x"}`,
    ],
  }

test.each(Object.entries(endless))('a log with %s is refused', async (_, [get, answer]) => {
  const { base, asked } = await logServer(answer)
  const read = await idsAt(base, get).catch((error: Error) => error.message)
  expect(asked.length).toBeLessThan(20)
  expect(read).toMatch(/--log: /)
})

test('a log that takes no notice of the number of rows before, or of the page, is read once', async () => {
  const { base } = await logServer(() => `{"rows": ${rows(0)}}`)
  expect(await idsAt(base, '/log?skip={offset}')).toEqual(['a', 'b'])
  expect(await idsAt(base, '/log?p={page}')).toEqual(['a', 'b'])
})

test('a log whose last page links to itself is whole', async () => {
  const { base } = await logServer((path) => {
    const part = paramOf(path, 'part')
    return `{"data": ${rows(part === null ? 0 : 1)}, "next": "/log?part=1"}`
  })
  expect(await idsAt(base, '/log')).toEqual(['a', 'b', 'c', 'd'])
})

test.each([
  ['/log', '"next": "/log?part=1"'],
  ['/log?limit=2', '"next": "/log?limit=2&part=1"'],
  ['/log?part={cursor}', '"next_cursor": "1"'],
  ['/log?part={cursor}', '"has_more": true, "last_id": "b"'],
])('a log whose last part is empty is whole: %s, %s', async (get, next) => {
  const { base } = await logServer((path) =>
    paramOf(path, 'part') === null ? `{"data": ${rows(0)}, ${next}}` : '{"data": []}',
  )
  expect(await idsAt(base, get)).toEqual(['a', 'b'])
})

test('a log whose last part is empty though rows of its total are missing is refused', async () => {
  const { base } = await logServer((path) =>
    paramOf(path, 'part') === null
      ? `{"data": ${rows(0)}, "total": 5, "next": "/log?part=1"}`
      : '{"data": []}',
  )
  await expect(idsAt(base, '/log')).rejects.toThrow(/shows 2 rows and says that there are more/)
})

test('a cursor that stays while its rows go on is refused: there may be more', async () => {
  const { base } = await logServer((_, nth) => `{"data": ${rows(nth)}, "next_cursor": "scroll"}`)
  await expect(idsAt(base, '/log?part={cursor}')).rejects.toThrow(/goes in a circle/)
})

test('a log whose next part is missing is refused', async () => {
  const { base } = await logServer((path) =>
    path === '/log' ? `{"data": ${rows(0)}, "next": "/log?part=1"}` : { status: 404, body: '{}' },
  )
  await expect(idsAt(base, '/log')).rejects.toThrow(/shows 2 rows and says that there are more/)
})
