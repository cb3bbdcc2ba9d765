import { describe, expect, test } from 'vitest'
import { keysIn } from '../../../src/store/import/log-keys.ts'

describe('a key by the name of its member', () => {
  test.each([
    ['{"token":"abcdefgh1234"}', 'abcdefgh1234'],
    ['{"authorization":"Basic dXNlcjpwYXNz"}', 'dXNlcjpwYXNz'],
    ['{"authorization":"token abcdefgh1234"}', 'abcdefgh1234'],
    ['{"authorization":"ApiKey abc\\/defgh"}', 'abc/defgh'],
    ['{"api_key":"abcdefgh1234" cut', 'abcdefgh1234'],
    ['{"api_key":"abcdefgh1234', 'abcdefgh1234'],
    ['{"api_key":"abcdefgh\\u003d"}', 'abcdefgh'],
    ['{"secret":"my password is hunter22222"}', 'my password is hunter22222'],
    ['{"password":"correct horse battery"}', 'correct horse battery'],
  ])('is found in %s', (text, key) => {
    expect([...keysIn(text)]).toEqual([key])
  })

  test.each([
    '{"token":"not available"}',
    '{"token":"x claude-sonnet-4"}',
    '{"api_key":"unavailable at present"}',
    '{"token":"short"}',
  ])('is no word of a sentence: %s', (text) => {
    expect([...keysIn(text)]).toEqual([])
  })
})
