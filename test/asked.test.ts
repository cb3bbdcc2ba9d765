import { afterEach, expect, test, vi } from 'vitest'
import { askedOf } from './asked.ts'

afterEach(() => void vi.restoreAllMocks())

/** What the words give: the options, or what is printed and the exit code. */
function asked(...words: readonly string[]) {
  const printed: string[] = []
  vi.spyOn(process, 'argv', 'get').mockReturnValue(['node', 'fuzz.ts', ...words])
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((text) => printed.push(String(text)) > 0)
  }
  vi.spyOn(process, 'exit').mockImplementation((code) => {
    throw new Error(`${printed.join('')}exit ${code}`)
  })
  try {
    const { values, positionals } = askedOf('npm run fuzz', {
      minutes: { type: 'string', default: '1' },
    })
    return [values.minutes, ...positionals]
  } catch (error) {
    return (error as Error).message
  }
}

test('the words of a proof are its options and its targets', () => {
  expect(asked('--minutes', '3', 'sse')).toEqual(['3', 'sse'])
})

test('--help prints the usage of a proof and ends with 0', () => {
  expect(asked('--help')).toBe('npm run fuzz\nexit 0')
})

test('an unknown option of a proof is one sentence with the usage, and ends with 2', () => {
  expect(asked('--hours', '3')).toMatch(/^Unknown option '--hours'.*\nnpm run fuzz\nexit 2$/)
})
