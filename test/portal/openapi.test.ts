import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { serve } from '@hono/node-server'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { generateSource } from 'oazapfts'
import { expect, test } from 'vitest'
import { openapiDocument } from '../../src/portal/api/openapi.ts'
import { subject } from '../report/marked-accounts.ts'
import { served, tokenOf } from './portal.ts'

const root = resolve(import.meta.dirname, '../..')
const published = join(root, 'docs/schema/usage-api.json')

test('the published document is that of the server, and a linter finds nothing in it', async () => {
  const source = readFileSync(published, 'utf8')
  expect(JSON.parse(source)).toEqual(openapiDocument())
  const config = await createConfig({ extends: ['recommended-strict'] })
  expect(await lintFromString({ source, config })).toEqual([])
  // The linter is awake.
  const faulty = source.replace('"operationId": "getAccount"', '"operationId": "getSummary"')
  expect(await lintFromString({ source: faulty, config })).not.toEqual([])
})

test('a client that is generated from the document compiles and runs', {
  tags: 'whole',
  timeout: 120_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-client-'))
  mkdirSync(join(folder, 'node_modules/@oazapfts'), { recursive: true })
  cpSync(
    join(root, 'node_modules/@oazapfts/runtime'),
    join(folder, 'node_modules/@oazapfts/runtime'),
    { recursive: true },
  )
  const service = await served([subject])
  const server = serve({ fetch: await service.portal.handler(), hostname: '127.0.0.1', port: 0 })
  try {
    await new Promise((done) => server.once('listening', done))
    const { port } = server.address() as { port: number }
    writeFileSync(join(folder, 'client.ts'), await generateSource(published, { optimistic: true }))
    writeFileSync(
      join(folder, 'use.ts'),
      `import { defaults, getBreakdown, getSummary } from './client.js'
const [, , baseUrl, token] = process.argv
defaults.baseUrl = baseUrl!
defaults.headers = { authorization: \`Bearer \${token}\` }
const summary = await getSummary('2026-11-01', '2026-12-01', { model: ['${subject.model}'] })
const value: string | null = summary.requests.value
const { rows } = await getBreakdown('2026-11-01', '2026-12-01', 'key')
process.stdout.write(JSON.stringify([value, rows.map((row) => row.name)]))
`,
    )
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const options =
      '--strict --skipLibCheck --target es2022 --module nodenext --outDir out --types node'.split(
        ' ',
      )
    cpSync(join(root, 'node_modules/@types/node'), join(folder, 'node_modules/@types/node'), {
      recursive: true,
    })
    cpSync(join(root, 'node_modules/undici-types'), join(folder, 'node_modules/undici-types'), {
      recursive: true,
    })
    execFileSync(process.execPath, [tsc, ...options, 'use.ts'], { cwd: folder, encoding: 'utf8' })
    const { promisify } = await import('node:util')
    const { execFile } = await import('node:child_process')
    const { stdout } = await promisify(execFile)(process.execPath, [
      join(folder, 'out/use.js'),
      `http://127.0.0.1:${port}`,
      await tokenOf(subject.name),
    ])
    const [value, names] = JSON.parse(stdout)
    // 20 events, 4 sums of 3 requests without the model svc-k2, and 1 request of the run.
    expect(Number(value)).toBeGreaterThan(20)
    expect(names.toSorted()).toEqual([...subject.keyNames].toSorted())
  } finally {
    server.close()
    await service.close()
    rmSync(folder, { recursive: true })
  }
})
