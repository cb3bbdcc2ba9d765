import { expect, test } from 'vitest'
import { refusalOf } from '../../src/run/send/refusal.ts'

const remedy = (status: number, body: string) =>
  refusalOf('POST http://a/v1/chat/completions', { status, reason: null, body }).split('\n').at(-1)

test.each([500, 502, 503])('nothing of the user is blamed for a %i', (status) => {
  expect(remedy(status, 'down')).toBe(
    'The service, or a proxy before it, failed. See its log, or try again later.',
  )
})

test.each([
  '{"error":{"message":"The model m does not exist."}}',
  '{"error":{"code":"model_not_found"}}',
  '{"error":{"code":"unknown_model"}}',
  '{"detail":"Models: a, b"}',
])('a 404 is of the model if its error names one: %s', (body) => {
  expect(remedy(404, body)).toBe('Correct the model; the service lists those that it has.')
})

test.each([
  '<html><title>Modeling Ltd</title></html>',
  '<html>\nOur model is fast</html>',
  '{"detail":"remodelled"}',
  '{"detail":"no route /v1/models/chat"}',
])('a 404 is of the path if only a page, a path or another word has it: %s', (body) => {
  expect(remedy(404, body)).toBe('Correct the base URL, the model, or the paths of the --contract.')
})
