import { expect, test } from 'vitest'
import { knownFormats } from '../../../src/store/import/formats/list.ts'
import { openaiMediaUsage, openaiOlderUsage } from '../../../src/store/import/formats/openai.ts'

const formatOf = (...names: readonly string[]) =>
  knownFormats.find((format) => format.recognises((name) => names.includes(name), ''))?.name

test.each(['images', 'characters', 'seconds'])(
  'a table of media without objects is known by its column %s',
  (column) => {
    expect(formatOf('start_time', 'end_time', 'num_model_requests', column)).toBe(
      openaiMediaUsage.name,
    )
    expect(formatOf('start_time', 'end_time', 'num_model_requests', 'input_tokens')).toBe(
      'OpenAI usage',
    )
  },
)

test('an import of media says that what is charged is not kept', () => {
  expect(openaiMediaUsage.note).toBe(
    'only requests are kept: the images, characters and seconds that are charged are not',
  )
})

test.each([
  [1_793_664_000, 1_793_664_300],
  ['1793664000', 1_793_664_300],
  ['2026-11-03T00:00:00Z', '2026-11-03T00:05:00.000Z'],
  ['2026-11-03T00:00:00', '2026-11-03T00:05:00.000'],
  [null, undefined],
  ['', undefined],
])('five minutes of the older usage begin at %j and end at %j', (start, end) => {
  const [row] = openaiOlderUsage.rows({ aggregation_timestamp: start, n_requests: 1 })
  expect(row!.end).toBe(end)
})
