import { expect, test } from 'vitest'
import type { Asked, Input } from '../../src/portal/api/asked.ts'
import { singleRequestOf } from '../../src/portal/figures/single-request.ts'
import type { Source } from '../../src/portal/source/source.ts'
import { hourUs } from '../../src/user/durations.ts'
import { userError } from '../../src/user/user-error.ts'
import { utc } from '../report/usage-events.ts'

const fromUs = utc(2026, 11, 18, 16)
const atUs = fromUs + 23 * 60e6
const asked = {
  bearer: { account: 'a', keys: null, shows: new Set(['requests', 'credits']) },
  view: { moneyOf: () => null },
} as unknown as Asked
const none = { model: [], key: [], endpoint: [], tag: [], outcome: [] }
const hours = (count: number) => ({ fromUs, toUs: fromUs + count * hourUs })

const found = (requests: () => Promise<object[] | null>, spans = [hours(1)], who: Asked = asked) =>
  singleRequestOf(
    who,
    none as unknown as Input<'summary'>,
    { requests: requests as unknown as Source['requests'] },
    { spans, unit: 'credits', excess: 100 },
  )
const of = (credits: string | null) => async () => [{ at_us: atUs, unit: 'credits', credits }]

test.each([
  ['60', { atUs, amount: '60' }],
  ['59.9', null],
  [null, null],
])('a request of %s where a day has 100 beyond a usual one: %j', async (credits, said) => {
  expect(await found(of(credits))).toEqual(said)
})

test('a request is looked for in one hour alone, and only for those who may see requests', async () => {
  const none = async () => expect.fail('asked')
  expect(await found(none, [hours(2)])).toBeNull()
  expect(await found(none, [])).toBeNull()
  expect(await found(none, [hours(1), hours(1)])).toBeNull()
  const other = { ...asked, bearer: { ...asked.bearer, shows: new Set(['credits']) } } as Asked
  expect(await found(none, [hours(1)], other)).toBeNull()
})

test('where only sums are known, or the source does not answer, no request is named', async () => {
  expect(await found(async () => null)).toBeNull()
  expect(await found(() => Promise.reject(userError.store('clickhouse: refused')))).toBeNull()
  // What is no failure of the source is not hidden.
  await expect(found(() => Promise.reject(new TypeError('x')))).rejects.toThrow('x')
})
