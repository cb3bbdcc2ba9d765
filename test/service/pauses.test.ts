import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

/**
 * Objects that live for some turns, as in streams, until the young generation has every reason to
 * grow.
 */
const load = `
  // Between two collections V8 lends it more pages, and takes them back at the next.
  const halfMiB = () => {
    gc({ type: 'minor' })
    const young = v8.getHeapSpaceStatistics().find((each) => each.space_name === 'new_space')
    return Math.round((young.space_used_size + young.space_available_size) / 2 ** 20)
  }
  const began = halfMiB()
  const kept = []
  for (let turn = 0; turn < 400; turn++) {
    for (let at = 0; at < 5_000; at++) kept.push({ at })
    if (kept.length > 300_000) kept.length = 0
    await new Promise((resolve) => setImmediate(resolve))
  }
  process.stdout.write(JSON.stringify([began, halfMiB()]))`

/** MiB per half of the young generation of a separate process: at first, and after some load. */
function halvesMiB(begin: string): [began: number, ended: number] {
  const pauses = new URL('../../src/service/pauses.ts', import.meta.url)
  const program = `import v8 from 'node:v8'
    import { holdYoung, keepPausesShort } from '${pauses}'
    ${begin}
    ${load}`
  const args = ['--no-warnings', '--expose-gc', '--input-type=module', '-e', program]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
}

test('the young generation of a service grows to 4 MB per half, and no further', {
  tags: 'whole',
}, () => {
  expect(halvesMiB('holdYoung(); keepPausesShort()')).toEqual([4, 4])
})

test('the young generation keeps its initial size until it may grow', () => {
  const [began, ended] = halvesMiB('holdYoung()')
  expect(ended).toBe(began)
  expect(began).toBeLessThan(4)
})
