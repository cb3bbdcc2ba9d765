import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { shells } from '../../src/cli/terminal/completion.ts'
import { checksOf, type MachineFacts } from '../../src/run/self-test/doctor.ts'
import { loadScenario } from '../../src/scenario/parse.ts'
import { main } from '../e2e/command.ts'

const assay = (cwd: string, ...words: readonly string[]) =>
  spawnSync(process.execPath, [main, ...words], { cwd, encoding: 'utf8' })

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'assay-first-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

test('init writes a scenario that runs unchanged, and never replaces a file', {
  tags: 'whole',
}, async () => {
  const folder = emptyFolder()
  const made = assay(folder, 'init', 'a.yaml', '--base-url', 'http://127.0.0.1:9', '--model', 'a"b')
  expect(made).toMatchObject({
    status: 0,
    stdout: 'a.yaml\nNext: assay run a.yaml --dry-run  # prints its plan and sends nothing\n',
  })
  const file = join(folder, 'a.yaml')
  expect(await loadScenario(file)).toMatchObject({
    baseUrl: 'http://127.0.0.1:9',
    steps: [{ model: 'a"b' }, { model: 'a"b' }],
  })
  const before = readFileSync(file, 'utf8')
  expect(before).toMatch(/^# A first scenario: .*\n(?:.*\n)*# {3}assay run a\.yaml$/m)
  expect(assay(folder, 'init', 'a.yaml')).toMatchObject({
    status: 2,
    stderr: 'a.yaml exists and is not replaced. Name another file: assay init other.yaml.\n',
  })
  expect(readFileSync(file, 'utf8')).toBe(before)
})

const fit: MachineFacts = {
  node: '24.1.0',
  neededNode: '22.19',
  openFiles: 65_536,
  ports: 28_232,
  cores: 4,
  load: 0.4,
  memoryBytes: 8 * 2 ** 30,
  clockStepUs: 100,
  watchedUs: 1e6,
  timerLateP99Us: 300,
  freeBytes: 100 * 2 ** 30,
  storeFolder: '/data',
  isWritable: true,
}

test('doctor finds no fault with a fit machine', () => {
  expect(checksOf(fit).map(({ state, remedy }) => ({ state, remedy }))).toEqual(
    Array(9).fill({ state: 'good', remedy: null }),
  )
})

test.each([
  ['Node', { node: '22.18.9' }, 'bad', 'Install Node 22.19 or newer.'],
  ['Node', { node: '9.30.0' }, 'bad', 'Install Node 22.19 or newer.'],
  ['open files', { openFiles: 256 }, 'bad', 'ulimit -n 65536'],
  ['open files', { openFiles: 1024 }, 'fair', 'ulimit -n 65536'],
  ['local ports', { ports: 1000 }, 'fair', 'net.ipv4.ip_local_port_range'],
  ['cores', { cores: 1 }, 'fair', 'two or more'],
  ['load', { load: 17 }, 'bad', 'Other programs'],
  ['memory', { memoryBytes: 2 ** 30 }, 'fair', '2 GiB or more'],
  ['clock', { clockStepUs: 20_000 }, 'fair', 'chrony'],
  ['timers', { timerLateP99Us: 30_000 }, 'bad', 'Another program'],
  ['disk', { freeBytes: 2 ** 20 }, 'bad', 'Free some space'],
  ['disk', { isWritable: false }, 'bad', '--db'],
] as const)('doctor reports a fault of %s for %o', (name, facts, state, remedy) => {
  const faults = checksOf({ ...fit, ...facts }).filter((check) => check.state !== 'good')
  expect(faults).toMatchObject([{ name, state }])
  expect(faults[0]!.remedy).toContain(remedy)
})

test('a fact that the system does not show is unknown, not good', () => {
  const checks = checksOf({ ...fit, openFiles: null, ports: null, freeBytes: null })
  expect(checks.filter(({ state }) => state === 'unknown').map(({ name }) => name)).toEqual([
    'open files',
    'local ports',
    'disk',
  ])
})

test('doctor checks the folder of the store, and exits with 3 if it is not writable', {
  tags: 'whole',
}, () => {
  const { status, stdout } = assay(emptyFolder(), 'doctor', '--db', 'nowhere/a.duckdb', '--json')
  expect(JSON.parse(stdout)).toContainEqual({
    name: 'disk',
    state: 'bad',
    found: expect.stringMatching(/nowhere cannot be written$/),
    remedy: 'Name a folder that can be written with --db.',
  })
  expect(status).toBe(3)
})

test.skipIf(!existsSync('/bin/bash')).each([
  [['assay', 'ru'], 'run runs'],
  [['assay', 'report', 'l'], 'launch'],
  [['assay', 'audit', '--format', 's'], 'sarif'],
  [['assay', 'usage', 'watch', '--ev'], '--every'],
])('bash completes %j', (words, expected) => {
  const { stdout } = assay(tmpdir(), 'completion', 'bash')
  const ask = `${stdout}\nCOMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _assay; echo "\${COMPREPLY[@]}"`
  expect(spawnSync('/bin/bash', ['-c', ask], { encoding: 'utf8' })).toMatchObject({
    stdout: `${expected}\n`,
    stderr: '',
  })
})

test.each(shells)('the script for %s names every command', (shell) => {
  const { stdout } = assay(tmpdir(), 'completion', shell)
  for (const command of ['serve', 'run', 'probe', 'audit', 'report', 'watch', 'completion']) {
    expect(stdout).toContain(command)
  }
})
