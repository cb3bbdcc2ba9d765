import { expect, test } from 'vitest'
import { reasonOf } from '../../src/user/reason.ts'
import { Secrets } from '../../src/user/secrets/secrets.ts'

const own = new Secrets(['pw 1', 'default:s3cret-pass'])

test.each([
  ['a control character', '\x1b[2J no', '␛[2J no'],
  ['a second line, as of a stack', 'no\n    at x (file.js:1)', 'no'],
  ['a short password', "for user 'pw 1'", "for user '[key]'"],
  ['user and password of Basic', `Basic ${btoa('default:s3cret-pass')}`, 'Basic [key]'],
  ['a long text', 'a'.repeat(1000), `${'a'.repeat(300)}…`],
  ['a blank line before it', '\n \nno', 'no'],
])('what a server says is shown without %s', (_, summary, shown) => {
  expect(reasonOf(new Error(summary), own).replaceAll('=', '')).toBe(shown)
})

test('what is thrown without a message is shown as it is', () => {
  expect(
    [undefined, null, 'no', 7, { code: 'EPIPE' }, new Error(' \n')].map((error) => reasonOf(error)),
  ).toEqual(['undefined', 'null', 'no', '7', 'EPIPE', 'Error:'])
})
