import { expect, test } from 'vitest'
import { serviceUrl } from '../../src/contract/base-url.ts'
import { defaultContract } from '../../src/contract/default.ts'

const own = { ...defaultContract, paths: { chat: '/api/v1/chat' } } as typeof defaultContract

test.each([
  ['http://api', 'http://api'],
  ['http://api/', 'http://api'],
  ['http://api/api', 'http://api'],
  ['https://gateway.example/x/api/v1', 'https://gateway.example/x'],
])('%s of a service with the path /api/v1/chat is %s', (given, expected) => {
  expect(serviceUrl(given, own)).toBe(expected)
})
