import { expect, test } from 'vitest'
import type { Answers } from '../../src/portal/api/shapes.ts'
import { type EventChange, enterEvents, utc } from '../report/usage-events.ts'
import type { Store } from '../store/opened.ts'
import { november, type Served, served, settingsOf, tokenOf } from './portal.ts'

const [first, second, third, fourth] = [
  ...['ffffffffffff', '123456789abc', '23456789abcd', '3456789abcde'],
] as const
const atUs = utc(2026, 11, 27, 9)
const events: readonly (EventChange & { readonly atUs: number })[] = [
  { atUs, account: 'a', keyFp: first, credits: 1 },
  { atUs: atUs + 60e6, account: 'a', keyFp: second, credits: 2 },
  { atUs: atUs + 120e6, account: 'a', keyFp: third, credits: 4 },
  { atUs: atUs + 180e6, account: 'a', keyFp: fourth, credits: 8 },
  { atUs, account: 'b', keyFp: 'prod', credits: 16 },
]

const enterFours = (store: Store, fours: readonly (readonly [string, string, string])[]) =>
  Promise.all(fours.map((row) => store.execute('INSERT INTO usage_keys VALUES ($1, $2, $3)', row)))

async function asked<T>(
  fours: Parameters<typeof enterFours>[1],
  work: (service: Served, token: string) => Promise<T>,
  names: Readonly<Record<string, string>> = {},
): Promise<T> {
  const settings = { ...settingsOf(), keyNames: new Map(Object.entries(names)) }
  const service = await served([], settings, async (store) => {
    await enterEvents(store, events)
    await enterFours(store, fours)
  })
  try {
    return await work(service, await tokenOf('a'))
  } finally {
    await service.close()
  }
}

const json = async <T>(answer: Response) => (await answer.json()) as T
const namesOf = async ({ ask }: Served, token: string, more = '') =>
  (
    await json<Answers['breakdown']>(
      await ask(`/v1/usage/breakdown?${november}&by=key${more}`, token),
    )
  ).rows.map(({ name }) => name)
const creditsOf = async ({ ask }: Served, token: string, key: string) =>
  (
    await json<Answers['summary']>(
      await ask(`/v1/usage/summary?${november}&key=${encodeURIComponent(key)}`, token),
    )
  ).credits?.value

const fours = [
  ['a', first, 'ijkl'],
  ['a', second, 'ijkl'],
  ['a', third, 'wxyz'],
  ['b', 'prod', 'zzzz'],
] as const

test('a key has the name of the settings, else its last four letters, else its number; two that end the same are told apart', async () => {
  await asked(
    fours,
    async (service, token) => {
      expect(await namesOf(service, token)).toEqual(['key 4', 'billing', '…ijkl (2)', '…ijkl'])
      // An address that was saved before the key had its name finds it.
      for (const before of ['billing', '…wxyz', 'key 3', third])
        expect(await creditsOf(service, token, before)).toBe('4')
    },
    { [third]: 'billing' },
  )
})

test('a name of the settings that is like an end of a key is that of its own key', async () => {
  await asked(
    fours,
    async (service, token) => {
      expect(await namesOf(service, token)).toEqual(['…ijkl', '…wxyz', '…ijkl (3)', '…ijkl (2)'])
    },
    { [fourth]: '…ijkl' },
  )
})

test('each key is found by its name, its number of before, and its fingerprint, and sorting knows only the last', async () => {
  await asked(fours, async (service, token) => {
    const found = async (...names: readonly string[]) =>
      Promise.all(names.map((name) => creditsOf(service, token, name)))
    expect(await found('…ijkl', 'key 1', first)).toEqual(['1', '1', '1'])
    expect(await found('…ijkl (2)', 'key 2', second)).toEqual(['2', '2', '2'])
    expect(await found('…wxyz', 'key 3', third)).toEqual(['4', '4', '4'])
    expect(await found('key 4', fourth)).toEqual(['8', '8'])
    // That of another account is none of this one.
    expect(await found('…zzzz', 'prod', 'ijkl', 'key 5')).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ])
    const sorted = ['…ijkl (2)', '…wxyz', 'key 4', '…ijkl']
    expect(await namesOf(service, token, '&sort=name')).toEqual(sorted)
  })
})

test('every answer and the page call a key the same, and none has its fingerprint', {
  tags: 'whole',
}, async () => {
  await asked(fours, async ({ ask }, token) => {
    const text = async (path: string) => (await ask(path, token)).text()
    const page = await text(`/page?${november}&by=key`)
    expect(page).toContain('…wxyz')
    const data = JSON.parse(/id="board-data">([^<]*)</.exec(page)![1]!) as {
      names: { key: string[] }
    }
    expect(data.names.key.toSorted()).toEqual(['key 4', '…ijkl', '…ijkl (2)', '…wxyz'])
    const chosen = await text(`/page?${november}&key=${encodeURIComponent('key 3')}`)
    expect(chosen).toContain('…wxyz')
    const texts = [
      page,
      chosen,
      await text(`/v1/usage/series?${november}&by=key`),
      await text(`/v1/usage/requests?${november}`),
      await text(`/v1/export?${november}&format=csv`),
      await text(`/v1/export?${november}&format=jsonl`),
    ]
    for (const each of texts.slice(2)) expect(each).toContain('…wxyz')
    for (const each of texts)
      for (const key of [first, second, third, fourth, 'zzzz']) expect(each).not.toContain(key)
  })
})

test('four letters that are markup, quotes or a change of direction are data on the page', {
  tags: 'whole',
}, async () => {
  const odd = [`<b>"`, `'\u202e&a`, '</s>'] as const
  const foursOfOdd = odd.map((four, at) => ['a', [first, second, third][at]!, four] as const)
  await asked(foursOfOdd, async (service, token) => {
    const page = await (await service.ask(`/page?${november}&by=key`, token)).text()
    expect(page).not.toContain('…<b>')
    expect(page).not.toContain('…</s>')
    expect(page).toContain('…&#60;b&#62;')
    expect(page).not.toContain('\u202e')
    expect(await namesOf(service, token)).toContain(`…${odd[0]}`)
  })
})

test('a page of one key is called by its last four letters', { tags: 'whole' }, async () => {
  await asked(fours, async ({ ask }) => {
    const titleOf = async (key: string) => {
      const page = await ask(`/page?${november}`, await tokenOf('a', { keys: [key] }))
      return /<h1[^>]*>([^<]*)</.exec(await page.text())![1]
    }
    expect(await titleOf(third)).toContain('key “…wxyz”')
    expect(await titleOf(fourth)).toContain('“key 1”')
  })
})

test('a copy notices that a key has its last four letters by now, though its requests are the same', async () => {
  const service = await served([], settingsOf(), (store) => enterEvents(store, events))
  try {
    const token = await tokenOf('a')
    expect(await namesOf(service, token)).toEqual(['key 4', 'key 3', 'key 2', 'key 1'])
    const { openStore } = await import('../store/opened.ts')
    const store = await openStore(service.file)
    await enterFours(store, fours)
    store.close()
    await service.portal.refresh()
    expect(await namesOf(service, token)).toEqual(['key 4', '…wxyz', '…ijkl (2)', '…ijkl'])
  } finally {
    await service.close()
  }
})

test('a name that several keys of an account have shows none of their ends', async () => {
  await asked([...fours, ['a', third, 'aaaa']], async (service, token) => {
    expect(await namesOf(service, token)).toEqual(['key 4', 'key 3', '…ijkl (2)', '…ijkl'])
  })
})
