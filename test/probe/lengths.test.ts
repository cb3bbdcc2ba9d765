import { expect, test } from 'vitest'
import { defaultContract } from '../../src/contract/default.ts'
import { refusals, sizes } from '../../src/probe/questions/errors.ts'
import { type Answer, answeredBy, told } from './answering.ts'

const { maxInputTokens } = defaultContract.limits
const smallest = Math.min(
  ...defaultContract.models.map(({ contextWindowTokens }) => contextWindowTokens),
)

const counted = (promptTokens: number): Answer => ({ status: 200, columns: { promptTokens } })
const refused = (errorCode: string | null, status = 400): Answer => ({
  ...{ status, columns: { errorCode } },
})

/** A service with one answer to long prompts and another to short ones. */
const service = (long: Answer, short: Answer) =>
  answeredBy(({ messages }) =>
    String(messages?.[0]?.content ?? '').length > 10_000 ? long : short,
  )

const tooLong = refused('context_length_exceeded')
const noModel = refused('model_not_found')

test.each([
  ['the refusal names the length', 'limits', tooLong, 503],
  ['it is refused, and a short one is served', 'limits', refused(null), 200],
  ['more tokens were counted than the limit', 'window', counted(maxInputTokens + 1), 200],
])('of the input limit and the window binds: %s', async (_, binds, long, short) => {
  expect(await told(sizes, 'G-30', service(long, short))).toMatchObject({
    status: 'answered',
    is: { binds },
  })
})

test.each([
  ['the model is not offered', noModel, noModel],
  ['a short one is also refused', refused(null), refused(null)],
  ['the service cut the prompt', counted(maxInputTokens), 200],
  ['the service counted no tokens', 200, 200],
  ['the service failed', 503, 200],
  ['there was no answer', null, 200],
  ['the key ran out of credits', refused(null, 403), 200],
  ['a proxy refused its size', refused(null, 413), 200],
])('the binding limit stays open if %s', async (_, long, short) => {
  expect(await told(sizes, 'G-30', service(long, short))).toMatchObject({
    between: { binds: ['limits', 'window'] },
  })
})

test.each([
  ['400', tooLong, 503],
  ['404', refused(null, 404), 200],
  ['422', refused(null, 422), 200],
  ['413', refused('context_length_exceeded', 413), 503],
  ['200', counted(smallest + 1), 200],
])('a context that is too long has status %s', async (status, long, short) => {
  expect(await told(refusals, 'G-27', service(long, short))).toMatchObject({
    is: { 'context too long': status },
  })
})

test.each([
  ['was not counted', 200, 200, []],
  ['was cut', counted(smallest), 200, []],
  ['got a server error', 503, 200, ['503']],
  ['was too large for a proxy', refused(null, 413), 200, ['413']],
  ['went to a model that is not offered', noModel, noModel, []],
])('the status of a long context stays open if it %s', async (_, long, short, or) => {
  expect(await told(refusals, 'G-27', service(long, short))).toMatchObject({
    between: { 'context too long': ['400', '404', '200', ...or] },
  })
})

test.each([503, 429, null])('a max_tokens that gets %s stays open', async (end) => {
  const open = ['refused', 'clamped', 'honoured']
  expect(await told(sizes, 'G-29', service(200, { status: end }))).toMatchObject({
    between: { '8193': open, '128000': open },
  })
})
