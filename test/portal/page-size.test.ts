import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { enterEvents, utc } from '../report/usage-events.ts'
import { november, type Served, served, settingsOf, tokenOf } from './portal.ts'

let service: Served
let token: string
beforeAll(async () => {
  const many = Array.from({ length: 28 * 200 * 2 }, (_, at) => {
    const [day, key, half] = [at % 28, Math.floor(at / 28) % 200, Math.floor(at / 5600)]
    return {
      atUs: utc(2026, 11, 1) + day * 86_400e6 + (key % 24) * 3600e6 + half * 60e6,
      ...{ account: 'a', keyFp: String(key).padStart(12, '0'), credits: '0.25', unit: 'EUR' },
      model: `model-${(key + day * half) % 20}`,
      tags: JSON.stringify({ team: `team ${at % 60}`, feature: `feature ${at}` }),
    }
  })
  service = await served([], settingsOf('accounts: { a: { tags: [team, feature] } }\n'), (store) =>
    enterEvents(store, many),
  )
  token = await tokenOf('a')
}, 60_000)
afterAll(() => service.close())

const pageOf = async (more: string) => {
  const answer = await service.ask(`/page?${november}${more}`, token)
  return { status: answer.status, text: await answer.text() }
}

test('a page of 20 models, 200 keys and two tags is within its budget, and its tables come when they are opened', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const { text } = await pageOf('&tables=top')
  expect(gzipSync(text).length).toBeLessThan(60_000)
  expect(text.length).toBeLessThan(400_000)
  // Short tables are there.
  expect(text.match(/data-table="[^"]*"/g)).toEqual([
    ...['data-table="key"', 'data-table="tag:team"', 'data-table="tag:feature"'],
  ])
  const keys = await pageOf('&tables=key')
  expect(keys.text.match(/<tr><th scope="row" class="txt"><a /g)).toHaveLength(200)
  expect(keys.text).toContain('>€2,800.00</td>')
  expect((await pageOf('')).text).toContain(keys.text.slice(0, keys.text.indexOf('</thead>')))
  expect([(await pageOf('&tables=tag:other')).status, (await pageOf('&tables=x')).status]).toEqual([
    ...[404, 404],
  ])
})
