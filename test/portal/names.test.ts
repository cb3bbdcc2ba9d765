import { expect, test } from 'vitest'
import type { Answers } from '../../src/portal/api/shapes.ts'
import { enterEvents, utc } from '../report/usage-events.ts'
import { november, type Served, served, settingsOf, tokenOf } from './portal.ts'

async function withService(
  events: Parameters<typeof enterEvents>[1],
  keyNames: ReadonlyMap<string, string>,
  work: (service: Served) => Promise<void>,
): Promise<void> {
  const service = await served([], { ...settingsOf(), keyNames: new Map(keyNames) }, (store) =>
    enterEvents(store, events),
  )
  try {
    await work(service)
  } finally {
    await service.close()
  }
}

const atUs = utc(2026, 11, 27, 9)
const json = async <T>(answer: Response) => (await answer.json()) as T
const same = 'large-model-'.repeat(20)

test('two models that differ after 200 letters are two, in the tables and as filters', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  await withService(
    [
      { atUs, account: 'a', model: `${same}one`, credits: 1 },
      { atUs, account: 'a', model: `${same}two`, credits: 2 },
    ],
    new Map(),
    async ({ ask }) => {
      const token = await tokenOf('a')
      const page = await (await ask(`/page?${november}`, token)).text()
      const { names, cells } = JSON.parse(/id="board-data">([^<]*)</.exec(page)![1]!) as {
        names: { model: string[] }
        cells: { credits: number[]; model: number[] }
      }
      expect(names.model).toHaveLength(2)
      expect(new Set(names.model).size).toBe(2)
      expect(Math.max(...names.model.map((name) => name.length))).toBe(200)
      // The short name of the page is a filter of every answer.
      const wanted = names.model[cells.model[cells.credits.indexOf(2)]!]!
      const asked = `${november}&model=${encodeURIComponent(wanted)}`
      const { credits } = await json<Answers['summary']>(
        await ask(`/v1/usage/summary?${asked}`, token),
      )
      expect(credits!.value).toBe('2')
      const { requests } = await json<Answers['requests']>(
        await ask(`/v1/usage/requests?${asked}`, token),
      )
      expect(requests.map(({ model }) => model)).toEqual([`${same}two`])
    },
  )
})

const [first, second, third] = ['0123456789ab', '123456789abc', '23456789abcd'] as const
const keyNames = new Map([first, second, third].map((key) => [key, 'billing']))

test('a key has the name of the settings though a key of another account has it, too', async () => {
  await withService(
    [
      { atUs, account: 'other', keyFp: first, credits: 5 },
      { atUs, account: 'a', keyFp: second, credits: 1 },
      { atUs: atUs + 60e6, account: 'a', keyFp: third, credits: 2 },
      { atUs: atUs + 90e6, account: 'a', keyFp: 'ffffffffffff', credits: 4 },
    ],
    keyNames,
    async ({ ask }) => {
      const token = await tokenOf('a')
      const creditsOf = async (key: string) =>
        (
          await json<Answers['summary']>(
            await ask(`/v1/usage/summary?${november}&key=${encodeURIComponent(key)}`, token),
          )
        ).credits!.value
      const { rows } = await json<Answers['breakdown']>(
        await ask(`/v1/usage/breakdown?${november}&by=key&sort=name`, token),
      )
      expect(rows.map(({ name, credits }) => [name, credits])).toEqual([
        ['billing', '1'],
        ['billing (2)', '2'],
        // No customer knows a fingerprint.
        ['key 3', '4'],
      ])
      expect(await creditsOf('billing')).toBe('1')
      expect(await creditsOf('billing (2)')).toBe('2')
      expect(await creditsOf('key 3')).toBe('4')
      expect(await creditsOf(third)).toBe('2')
    },
  )
}, 60_000)
