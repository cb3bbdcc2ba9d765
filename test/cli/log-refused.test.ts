import { expect, test } from 'vitest'
import { idsAt, type LogAnswer, logServer, rowOf } from './log-server.ts'

/** A log that cannot be read is an error of one sentence, and never an empty log, of which nothing would be wrong. */

test.each<readonly [string, LogAnswer, RegExp]>([
  ['401', { status: 401 }, /\/log answered 401\. It needs a key that may read the log/],
  ['500', { status: 500, body: 'oops' }, /\/log answered 500\.$/],
  ['404', { status: 404 }, /\/log answered 404\. Correct evidence\.log\.get in the contract/],
  [
    'an error with status 200',
    { body: '{"error": {"message": "no permission"}}' },
    /\/log shows no rows, but says: "no permission"/,
  ],
  [
    'a failure with status 200, as new-api answers',
    { body: '{"success": false, "message": "token expired", "data": null}' },
    /\/log shows no rows, but says: "token expired"/,
  ],
  [
    'a page to sign in',
    { body: '<!doctype html><title>Sign in, please</title>' },
    /the service's log is not JSON, nor CSV; it begins with "<!doctype html/,
  ],
  ['an end in the middle', { body: `[${rowOf('a')},`, ends: 'cut' }, /cannot be read/],
  ['a text', { body: '"ok"' }, /the service's log is not JSON, nor CSV/],
])('%s', async (_, answer, says) => {
  const { base } = await logServer(() => answer)
  await expect(idsAt(base, '/log')).rejects.toThrow(says)
})

test('an answer that never comes ends with what it waited for', async () => {
  const { base } = await logServer(() => ({ ends: 'never' }))
  await expect(idsAt(base, '/log', { patienceMs: 100 })).rejects.toThrow(
    /no whole answer within 0\.1 s/,
  )
})

test('a failure on a later page is no end of the log', async () => {
  const { base } = await logServer((path) =>
    path.endsWith('=1') ? `[${rowOf('a')}]` : '{"success": false, "message": "busy"}',
  )
  await expect(idsAt(base, '/log?p={page}')).rejects.toThrow(/says: "busy"/)
})

test.each([
  ['429 with the seconds to wait', { status: 429, headers: { 'retry-after': '0' } }],
  ['503 without a word', { status: 503 }],
])('a log that answers %s is asked again', { tags: 'whole' }, async (_, busy) => {
  const { base, asked } = await logServer((_path, nth) => (nth < 2 ? busy : `[${rowOf('a')}]`))
  expect(await idsAt(base, '/log')).toEqual(['a'])
  expect(asked).toHaveLength(3)
})

test('a log that stays busy is an error after four answers, and one that asks for an hour at once', async () => {
  const busy = await logServer(() => ({ status: 429, headers: { 'retry-after': '0' } }))
  await expect(idsAt(busy.base, '/log')).rejects.toThrow(/\/log answered 429 four times/)
  expect(busy.asked).toHaveLength(4)
  const later = await logServer(() => ({ status: 429, headers: { 'retry-after': '3600' } }))
  await expect(idsAt(later.base, '/log')).rejects.toThrow(
    /\/log answered 429 and asks to wait for 3600 s/,
  )
  expect(later.asked).toHaveLength(1)
})

test('a redirect within the service keeps the key, and one to another service does not get it', async () => {
  const keys: (string | undefined)[] = []
  process.env.ASSAY_API_KEY = 'sk-of-the-log'
  try {
    const other = await logServer((_path, _nth, { authorization }) => {
      keys.push(authorization)
      return { status: 401 }
    })
    const { base } = await logServer((path, _nth, { authorization }) => {
      keys.push(authorization)
      if (path === '/away') return { status: 302, headers: { location: `${other.base}/log` } }
      return path === '/log' ? { status: 307, headers: { location: '/log/' } } : `[${rowOf('a')}]`
    })
    expect(await idsAt(base, '/log')).toEqual(['a'])
    expect(keys).toEqual(['Bearer sk-of-the-log', 'Bearer sk-of-the-log'])
    await expect(idsAt(base, '/away')).rejects.toThrow(/redirects to http:\/\/127\.0\.0\.1:\d+/)
    expect(keys.at(-1)).not.toBe(undefined)
    expect(other.asked).toEqual([])
  } finally {
    delete process.env.ASSAY_API_KEY
  }
})

test('a log by id of which no answer has a row is an error: nothing could be judged', async () => {
  for (const answer of [{ status: 404 }, { body: '[]' }, { body: '{"data": null}' }]) {
    const { base } = await logServer(() => answer)
    await expect(idsAt(base, '/log/{response.id}', { ids: ['a', 'b'] })).rejects.toThrow(
      /has no row for any of 2 answers/,
    )
  }
})
