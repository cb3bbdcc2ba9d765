import { expect, test } from 'vitest'
import { extraHeaders } from '../../src/cli/runs/extra-headers.ts'
import { secrets } from '../../src/user/secrets/secrets.ts'

const braced = '$' + '{PORTKEY_API_KEY}'
const env = { PORTKEY_API_KEY: ' pk-1 ', EMPTY: '' }

test('a header value may name environment variables, and the store keeps only their names', () => {
  const given = ['X-Portkey-Api-Key: $PORTKEY_API_KEY', 'x-team: a', `x: b-${braced}`]
  expect(extraHeaders('--header', given, env)).toEqual([
    { name: 'x-portkey-api-key', value: 'pk-1', shown: '$PORTKEY_API_KEY', isSecret: true },
    { name: 'x-team', value: 'a', shown: '(value of --header)', isSecret: false },
    { name: 'x', value: 'b-pk-1', shown: `b-${braced}`, isSecret: true },
  ])
})

test('a literal value as long as a key is a secret', () => {
  const [header] = extraHeaders('--header', [`x-key: ${'k'.repeat(16)}`], env)
  expect(header).toMatchObject({ isSecret: true, shown: '(value of --header)' })
})

test.each(['sk-live-0123456789$EMPTY_NOT', `a1b2c3d4${braced}e5f6a7b8`])(
  'a literal as long as a key is not shown, though a variable stands beside it: %s',
  (written) => {
    const [header] = extraHeaders('--header', [`x-key: ${written}`], { ...env, EMPTY_NOT: 'x' })
    expect(header).toMatchObject({ isSecret: true, shown: '(value of --header)' })
  },
)

test.each([
  ['x-key', '--header: expected name: value, as in'],
  [': a', '--header: expected name: value, as in'],
  ['x-key: $EMPTY', '--header x-key: expected the variable EMPTY; it is not set.'],
  ['x key: a', '--header: header "x key": a name is letters, digits and -'],
  ['host: a', '--header: header host is set by the transport'],
])('%j is refused with one sentence', (given, message) => {
  expect(() => extraHeaders('--header', [given], env)).toThrow(message)
})

test('a secret value is removed from all that is printed, also if no request is sent', () => {
  extraHeaders('--header', ['x-key: pk-live-0123456789abcdef', 'x-team: a'], env)
  expect(secrets.without("'x-key: pk-live-0123456789abcdef', x-team: a")).toBe(
    "'x-key: [key]', x-team: a",
  )
})
