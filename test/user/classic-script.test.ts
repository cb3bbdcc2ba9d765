import { expect, test } from 'vitest'
import { asClassic } from '../../src/user/classic-script.ts'

test('imports go, and what is exported is declared', () => {
  const module =
    "import * as a from './a.js'\nimport {\n  b,\n} from './b.js'\nexport const c = a\nexport function d() {}\n"
  expect(asClassic(module)).toBe('\n\nconst c = a\nfunction d() {}\n')
})

test.each([
  "import './x.js'\nkept()\nimport { b } from './b.js'\n",
  'export class A {}\n',
  'export async function a() {}\n',
  'export let a = 1\n',
  'const a = 1\nexport { a }\n',
  'export default 1\n',
])('a module that would lose code, or be no script, is refused: %j', (module) => {
  expect(() => asClassic(module)).toThrow(/no part of a classic script/)
})
