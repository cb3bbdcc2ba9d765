import { afterAll, beforeAll, expect, test } from 'vitest'
import { others, subject } from '../report/marked-accounts.ts'
import { bytesOf, november, oddTag, type Served, served, settingsOf, tokenOf } from './portal.ts'

let all: Served
beforeAll(async () => {
  all = await served([subject, others[0]!, others[3]!])
}, 60_000)
afterAll(() => all.close())

const answer = async (path: string, claims = {}) => {
  const token = await tokenOf(subject.name, claims)
  return (await bytesOf(await all.ask(path, token))).replace(/^(ratelimit|etag).*$/gim, '')
}
const breakdown = `/v1/usage/breakdown?${november}&by=`
const summary = `/v1/usage/summary?${november}`

test('a tag of another account is the same bytes as one of nobody', async () => {
  const nobody = await answer(`${summary}&tag=team:nobody`)
  expect(nobody).toContain('"no-such-tag"')
  expect(await answer(`${summary}&tag=team:${others[3]!.tag}`)).toBe(nobody)
  const own = await answer(`${summary}&tag=team:${subject.tag}`)
  expect(own).toContain('"requests":{"value":"20"')
})

test('a tag that the settings do not name is the same bytes as one that no log has', {
  tags: 'whole',
}, async () => {
  const hidden = await served(
    [subject],
    settingsOf().tags.length > 0 ? { ...settingsOf(), tags: [] } : settingsOf(),
  )
  try {
    const token = await tokenOf(subject.name)
    const of = async (tag: string) => bytesOf(await hidden.ask(`${breakdown}tag:${tag}`, token))
    const without = (text: string) => text.replace(/^(ratelimit|etag).*$/gim, '')
    expect(without(await of('team'))).toContain('"no-such-tag"')
    expect(without(await of('team'))).toBe(without(await of('other')))
    for (const path of [
      `/page?${november}`,
      `/v1/export?${november}`,
      `/v1/usage/requests?${november}`,
      '/v1/account',
    ]) {
      const text = await bytesOf(await hidden.ask(path, token))
      expect([path, text.slice(0, 3), text.includes(subject.tag)]).toEqual([path, '200', false])
    }
  } finally {
    await hidden.close()
  }
})

test('a token that does not show tags sees none', { tags: 'whole' }, async () => {
  const claims = { shows: ['credits', 'requests', 'export', 'models'] }
  expect(await answer(`${breakdown}tag:team`, claims)).toContain('"not-shown"')
  expect(await answer(`${summary}&tag=team:${subject.tag}`, claims)).toContain('"not-shown"')
  for (const path of [
    `/page?${november}`,
    `/v1/export?${november}`,
    `/v1/usage/requests?${november}`,
    '/v1/account',
  ]) {
    const text = await answer(path, claims)
    expect([path, text.slice(0, 3), text.includes(subject.tag)]).toEqual([path, '200', false])
  }
})

test('a split that is none is refused with what is known', async () => {
  expect(await answer(`${breakdown}colour`)).toContain(
    'Known: model, key, endpoint, outcome, day, and tag:NAME.',
  )
  expect(await answer(`${breakdown}tag:a=b`)).toContain('"no-such-tag"')
  expect(await answer(`${summary}&tag=team`)).toContain('For example, tag=team:search.')
})

test('the page has a table of a tag, and a filter by it that can be taken away', {
  tags: 'whole',
}, async () => {
  const page = await answer(`/page?${november}&tag=team:${subject.tag}`)
  expect(page).toContain(`team:${subject.tag} `)
  expect(page).toContain('<h3>Team</h3>')
  expect(page).toMatch(new RegExp(`tag=team%3A${subject.tag}[^"]*">${subject.tag}</a>`))
  // No use has the other tag, so it has no table.
  expect(page).not.toContain('__proto__')
  expect(oddTag).toContain('__proto__')
})

test('the chart of a page can be split by a tag', { tags: 'whole' }, async () => {
  const boardOf = (page: string) =>
    JSON.parse(/id="board-data">([^<]*)</.exec(page)![1]!) as {
      readonly keyIs: string
      readonly names: { readonly key: readonly string[] }
      readonly splits: readonly { readonly by: string; readonly name: string }[]
      readonly cells: { readonly credits: readonly (number | null)[] }
    }
  const sumOf = ({ cells }: ReturnType<typeof boardOf>) =>
    cells.credits.reduce<number>((sum, each) => sum + (each ?? 0), 0)
  const byModel = boardOf(await answer(`/page?${november}`))
  expect(byModel.splits).toEqual([{ by: 'tag:team', name: 'Team' }])
  const page = await answer(`/page?${november}&by=tag:team`)
  const byTeam = boardOf(page)
  expect(byTeam.keyIs).toBe('tag')
  expect(byTeam.names.key).toContain(subject.tag)
  expect(byTeam.splits).toEqual([{ by: 'key', name: 'Key' }])
  expect(sumOf(byTeam)).toBeCloseTo(sumOf(byModel), 9)
  // A tag that no settings name is as one that no log has.
  expect(await answer(`/page?${november}&by=tag:other`)).toContain('"no-such-tag"')
})
