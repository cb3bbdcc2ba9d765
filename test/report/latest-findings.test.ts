import { expect, test } from 'vitest'
import { latestFindings } from '../../src/report/latest-findings.ts'
import { openStore } from '../store/opened.ts'

test('an audit of all shown runs goes before a newer one of some of them', async () => {
  const store = await openStore(':memory:')
  const audit = (id: string, at: string, runs: string) =>
    store.execute(
      `INSERT INTO findings SELECT '${id}', '${at}'::TIMESTAMP, ${runs}, 'BILL-01', 'must', 'pass', 1, '${id}', '{}'`,
    )
  await audit('both', '2026-11-01 10:00', `['a', 'b']`)
  await audit('one', '2026-11-02 10:00', `['a']`)
  const of = async (...runs: readonly string[]) =>
    (await latestFindings(store, runs)).map(({ title }) => title)
  expect(await of('a', 'b')).toEqual(['both'])
  expect(await of('a')).toEqual(['one'])
  expect(await of('b', 'c')).toEqual(['both'])
  store.close()
})
