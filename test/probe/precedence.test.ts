import { expect, test } from 'vitest'
import { precedence, refusals } from '../../src/probe/questions/errors.ts'
import { answeredBy, told } from './answering.ts'

const without = { operator: null, whenFull: null }

test.each([null, 408, 429])(
  'an answer of %s to two mistakes leaves open which one is first',
  async (status) => {
    expect(
      await told(
        precedence,
        'G-26',
        answeredBy(() => status, without),
      ),
    ).toMatchObject({
      status: 'ambiguous',
      is: {},
      between: {
        '401 or 400': ['401', '400'],
        '401 or unknown model': ['401', '400', '404'],
        '401 or 404': ['401', '404'],
        '400 or unknown model': ['invalid_request', 'model_not_found'],
      },
    })
  },
)

test('a failure that persists is the answer of the service to two mistakes', async () => {
  expect(
    await told(
      precedence,
      'G-26',
      answeredBy(() => 503, without),
    ),
  ).toMatchObject({
    is: { '401 or 400': '503', '401 or 404': '503', '400 or unknown model': '503' },
  })
})

test.each([null, 429])(
  'an answer of %s says nothing of the statuses and shapes of refusals',
  async (status) => {
    const answers = await refusals.ask(answeredBy(() => status))
    expect(answers['G-27']).toMatchObject({
      is: {},
      between: {
        'unknown model on chat': ['400', '404', '200'],
        'unknown model on messages': ['400', '404', '200'],
        'context too long': ['400', '404', '200'],
      },
    })
    const shapes = ['chat', 'messages', 'other']
    expect(answers['G-28']).toMatchObject({
      between: { models: shapes, credits: shapes, 'unknown path': shapes },
    })
  },
)

test('a failure of the service has no shape of its refusals', async () => {
  expect(
    await told(
      refusals,
      'G-28',
      answeredBy(({ endpoint }) =>
        endpoint === 'models' ? 502 : { status: 401, columns: { errorShape: 'chat' } },
      ),
    ),
  ).toMatchObject({
    is: { credits: 'chat', 'unknown path': 'chat' },
    between: { models: ['chat', 'messages', 'other'] },
  })
})
