import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openStore } from '../../src/store/session/open.ts'
import { assay, withFolder, withService } from './command.ts'

const quickPath = resolve(import.meta.dirname, '../../scenarios/quick.yaml')

/** The quick scenario, quicker: 300 requests in six seconds. */
const quick = [quickPath, ...['--rate', '50/s', '--duration', '3s']]

/**
 * Its requests by users: a run at a rate is invalid, with exit code 4, if two are sent late across
 * the end of a second.
 */
const byUsers = readFileSync(quickPath, 'utf8').replace(
  /^phases:\n(?:[ ].*\n)+/m,
  'phases: [{ name: steady, load: concurrency, users: 8, max_requests: 300, duration: 60s }]\n',
)

/** Everything that the store holds, as text: a compressed file could hide what it holds. */
async function textOf(path: string): Promise<string> {
  const store = await openStore(path)
  const tables = await store.rows<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_type = 'BASE TABLE'`,
  )
  const rows = []
  for (const { name } of tables)
    rows.push(await store.rows(`SELECT "${name}"::VARCHAR FROM "${name}"`))
  store.close()
  return JSON.stringify(rows)
}

// Up to five sequential processes, each of which may take seconds to start on a shared core.
describe.concurrent('the workflow, command by command', { timeout: 120_000 }, () => {
  test(
    'run, audit and report end with 0 on a clean service, and the key is in no file',
    { tags: 'whole' },
    () =>
      withFolder((folder) =>
        withService(['--seed', '11'], async ({ baseUrl, keys }) => {
          const key = keys.at(-1)!.apiKey
          const env = { ASSAY_API_KEY: key }
          writeFileSync(join(folder, 'quick.yaml'), byUsers)
          const run = await assay(['run', 'quick.yaml', '--base-url', baseUrl], {
            env,
            cwd: folder,
          }).ended
          expect(run.stderr + run.stdout).not.toContain('bug in Assay')
          expect(run.code).toBe(0)
          const audit = await assay(['audit'], { cwd: folder }).ended
          expect(audit).toMatchObject({ code: 0 })
          const report = await assay(['report', 'launch'], { cwd: folder }).ended
          expect(report).toMatchObject({ code: 0 })

          const written = readdirSync(folder).map((name) =>
            readFileSync(join(folder, name), 'latin1'),
          )
          const said = [run, audit, report].flatMap((ended) => [ended.stdout, ended.stderr])
          const store = await textOf(join(folder, 'assay.duckdb'))
          for (const text of [...written, ...said, store]) expect(text.includes(key)).toBe(false)
        }),
      ),
  )

  test(
    'audit ends with 3 and names the rule and its rows if one charge in fifty is doubled',
    { tags: 'whole' },
    () =>
      withFolder((folder) =>
        withService(['--seed', '11', '--fault', 'double-charge'], async ({ baseUrl, keys }) => {
          const env = { ASSAY_API_KEY: keys.at(-1)!.apiKey }
          await assay(['run', ...quick, '--base-url', baseUrl], { env, cwd: folder }).ended
          const audit = await assay(['audit'], { cwd: folder }).ended
          expect(audit.code).toBe(3)
          expect(audit.stdout).toMatch(/BILL-1[01]/)
          expect(audit.stdout).toMatch(/curl /)
        }),
      ),
  )

  test('a run against a closed port ends with 4 and says so', () =>
    withFolder(async (folder) => {
      const run = await assay(['run', ...quick, '--base-url', 'http://127.0.0.1:9'], {
        env: { ASSAY_API_KEY: 'sk-none' },
        cwd: folder,
      }).ended
      expect(run.code).toBe(4)
      expect(run.stderr).toContain('127.0.0.1:9 was never reached')
    }))

  test('an unknown command ends with 2 and is named', async () => {
    const ended = await assay(['frobnicate']).ended
    expect(ended.code).toBe(2)
    expect(ended.stderr).toContain("unknown command 'frobnicate'")
  })
})
