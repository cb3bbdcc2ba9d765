import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { subject } from '../report/marked-accounts.ts'
import { type Served, served, tokenOf } from './portal.ts'

let service: Served
beforeAll(async () => {
  service = await served([subject])
}, 60_000)
afterAll(() => service.close())

const paths = {
  page: '/page?from=2026-11-01&to=2026-12-01',
  days: '/v1/usage/series?from=2026-11-01&to=2026-12-01&bucket=day&by=model',
  short: '/v1/usage/summary?from=2026-11-01&to=2026-12-01',
}
const ask = async (path: string, accepted: string | null, more: Record<string, string> = {}) =>
  service.ask(path, await tokenOf(subject.name), {
    ...(accepted === null ? {} : { 'accept-encoding': accepted }),
    ...more,
  })
const bytesOf = async (answer: Response) => Buffer.from(await answer.arrayBuffer())

test('a page and a long answer are compressed for those who take gzip, in a third of their bytes', {
  tags: 'whole',
}, async () => {
  for (const path of [paths.page, paths.days]) {
    // The forecast is made, and so is the answer that stays.
    await bytesOf(await ask(path, null))
    const plain = await ask(path, null)
    const packed = await ask(path, 'br;q=1, gzip;q=0.5')
    const [whole, bytes] = [await bytesOf(plain), await bytesOf(packed)]
    expect(plain.headers.get('content-encoding')).toBeNull()
    expect(packed.headers.get('content-encoding')).toBe('gzip')
    expect(gunzipSync(bytes).equals(whole)).toBe(true)
    expect(bytes.length).toBeLessThan(whole.length / 3)
    for (const answer of [plain, packed])
      expect(answer.headers.get('vary')).toContain('Accept-Encoding')
    const tag = packed.headers.get('etag')!
    expect(tag).toBe(plain.headers.get('etag'))
    expect((await ask(path, 'gzip', { 'if-none-match': tag })).status).toBe(304)
  }
})

test('the frame without data is compressed, too', async () => {
  const answer = await service.ask('/page', null, { 'accept-encoding': 'gzip' })
  expect(answer.headers.get('content-encoding')).toBe('gzip')
  expect(gunzipSync(await bytesOf(answer)).toString()).toMatch(/^<!doctype html>/i)
})

test.each(['identity', 'gzip;q=0', 'gzip; q=0.000', 'br', ''])(
  'who accepts "%s" gets the answer as it is',
  async (accepted) => {
    const answer = await ask(paths.page, accepted)
    expect(answer.headers.get('content-encoding')).toBeNull()
    expect((await bytesOf(answer)).toString()).toContain('<h1>')
  },
)

test('a short answer is not compressed', async () => {
  const answer = await ask(paths.short, 'gzip')
  expect(answer.headers.get('content-encoding')).toBeNull()
})
