import { expect, test } from 'vitest'
import type { Answers } from '../../src/portal/api/shapes.ts'
import { enterEvents, utc } from '../report/usage-events.ts'
import { november, served, tokenOf } from './portal.ts'

test('a service in money has its amounts in series, days, requests, the export and the first line of the page', {
  tags: 'whole',
  timeout: 60_000,
}, async () => {
  const service = await served([], undefined, (store) =>
    enterEvents(store, [
      { atUs: utc(2026, 10, 4), account: 'a', credits: 4, unit: 'EUR' },
      { atUs: utc(2026, 11, 2), account: 'a', credits: '1.25', unit: 'EUR' },
      { atUs: utc(2026, 11, 3), account: 'a', credits: '0.25', unit: 'EUR' },
    ]),
  )
  try {
    const token = await tokenOf('a')
    const ask = async (path: string) => await service.ask(path, token)
    const period = 'from=2026-11-02&to=2026-11-04'
    const { unit, series } = (await (
      await ask(`/v1/usage/series?${period}&metric=cost&bucket=day`)
    ).json()) as Answers['series']
    expect([unit, series[0]!.values]).toEqual(['EUR', ['1.25', '0.25']])
    const { requests } = (await (
      await ask(`/v1/usage/requests?${november}`)
    ).json()) as Answers['requests']
    expect(requests.map(({ cost }) => cost)).toEqual([
      [{ currency: 'EUR', value: '0.25' }],
      [{ currency: 'EUR', value: '1.25' }],
    ])
    const csv = await (await ask(`/v1/export?${period}`)).text()
    expect(
      csv
        .split('\n')
        .slice(1, 3)
        .map((row) => row.split(',').slice(-4)),
    ).toEqual([
      ['EUR', '1.25', 'EUR', '1.25'],
      ['EUR', '0.25', 'EUR', '0.25'],
    ])
    const none = await ask(`/v1/usage/series?${period}&metric=cost&unit=USD`)
    expect([none.status, ((await none.json()) as { code: string }).code]).toEqual([
      ...[404, 'no-such-unit'],
    ])
    const page = await (await ask(`/page?${november}`)).text()
    expect(page.replace(/<[^>]+>/g, ' ')).toMatch(/Used Nov \d+ – \d+\s+€1\.50\s/)
  } finally {
    await service.close()
  }
})

test('the period before is cut to the part of this one that is measured', async () => {
  const service = await served([], undefined, (store) =>
    enterEvents(store, [
      { atUs: utc(2026, 11, 1), account: 'a', credits: 1 },
      { atUs: utc(2026, 11, 8, 12), account: 'a', credits: 10 },
      { atUs: utc(2026, 11, 12, 12), account: 'a', credits: 3 },
    ]),
  )
  try {
    const answer = await service.ask(
      '/v1/usage/summary?from=2026-11-11&to=2026-11-21',
      await tokenOf('a'),
    )
    const { credits } = (await answer.json()) as Answers['summary']
    // Of the ten days before, only the first day and a half.
    expect([credits!.value, credits!.previous]).toEqual(['3', '1'])
  } finally {
    await service.close()
  }
}, 60_000)
