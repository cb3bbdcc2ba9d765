import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'

const module = resolve(import.meta.dirname, '../../src/cli/terminal/colour.ts')
const text = 'chat.ttft.p95 < 1s  held  17 ms\\nerrors < 1%  MISSED  3 %\\nResult is: INVALID\\n'
const printed = (environment: Readonly<Record<string, string>>) =>
  spawnSync(
    process.execPath,
    ['-e', `import('${module}').then(({ coloured }) => process.stdout.write(coloured('${text}')))`],
    { encoding: 'utf8', env: { PATH: process.env.PATH, ...environment } },
  ).stdout

const plain = 'chat.ttft.p95 < 1s  held  17 ms\nerrors < 1%  MISSED  3 %\nResult is: INVALID\n'

test('a verdict has no colour off a terminal or with NO_COLOR', () => {
  expect(printed({})).toBe(plain)
  expect(printed({ NO_COLOR: '1' })).toBe(plain)
})

test('FORCE_COLOR paints each verdict: held green, missed and invalid red', () => {
  const [green, red, bold] = ['\u001b[32m', '\u001b[31m', '\u001b[1m']
  expect(printed({ FORCE_COLOR: '1' })).toBe(
    plain
      .replace('held', `${green}held\u001b[39m`)
      .replace('MISSED', `${red}${bold}MISSED\u001b[22m\u001b[39m`)
      .replace('INVALID', `${red}${bold}INVALID\u001b[22m\u001b[39m`),
  )
})
