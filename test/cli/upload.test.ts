import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { assay } from '../e2e/command.ts'
import { seededStore } from '../report/seeded.ts'

const secret = 'wJalrXUtnFEMI-test-secret'

/** Speaks the part of S3 that an upload needs, and keeps what it received. */
async function bucketServer(status = 200) {
  const objects = new Map<string, Buffer>()
  const parts = new Map<number, Buffer>()
  const credentials = new Set<string>()
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const { pathname, searchParams } = new URL(request.url!, 'http://s3')
      const body = Buffer.concat(pieces)
      credentials.add(/Credential=([^/]+)/.exec(request.headers.authorization ?? '')?.[1] ?? 'none')
      const say = (xml: string) => response.writeHead(status, { etag: '"e"' }).end(xml)
      if (status !== 200) say('<Error><Code>AccessDenied</Code><Message>No.</Message></Error>')
      else if (request.method === 'POST' && searchParams.has('uploads')) {
        say('<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>')
      } else if (request.method === 'POST') {
        const inOrder = [...parts].sort(([a], [b]) => a - b).map(([, part]) => part)
        objects.set(pathname, Buffer.concat(inOrder))
        say('<CompleteMultipartUploadResult><ETag>e</ETag></CompleteMultipartUploadResult>')
      } else {
        if (searchParams.has('partNumber')) parts.set(Number(searchParams.get('partNumber')), body)
        else objects.set(pathname, body)
        say('')
      }
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const folder = mkdtempSync(join(tmpdir(), 'assay-upload-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const env = {
    ...{ AWS_ACCESS_KEY_ID: 'AKIATEST', AWS_SECRET_ACCESS_KEY: secret, AWS_MAX_ATTEMPTS: '1' },
    AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  }
  return { objects, credentials, folder, env }
}

test('a page is uploaded byte for byte under the prefix and its own name', {
  tags: 'whole',
}, async () => {
  const { objects, credentials, folder, env } = await bucketServer()
  const store = await seededStore({ attempts: 200, path: join(folder, 'assay.duckdb') })
  store.close()
  const { code, stdout, stderr } = await assay(
    ['report', 'launch', '--upload', 's3://pages/launch-7'],
    { cwd: folder, env },
  ).ended
  expect({ code, stdout }, stderr).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^assay-launch\.html\nNext: assay audit .*\n$/),
  })
  expect(stderr).toContain('uploaded s3://pages/launch-7/assay-launch.html\n')
  expect([...objects.keys()]).toEqual(['/pages/launch-7/assay-launch.html'])
  expect(objects.values().next().value!.toString()).toMatch(/^<!doctype html>.*<\/html>\s*$/s)
  expect([...credentials]).toEqual(['AKIATEST'])
})

test("the operator's page is uploaded with the pages of customers, under the names of its links", {
  tags: 'whole',
}, async () => {
  const { objects, folder, env } = await bucketServer()
  const store = await seededStore({ attempts: 200, path: join(folder, 'assay.duckdb') })
  store.close()
  writeFileSync(
    join(folder, 'settings.yaml'),
    'product: Acme\ntokens: { algorithm: HS256, secretEnv: SECRET }\n',
  )
  const words = 'usage --by account --settings settings.yaml --from 2026-03-01 --to 2026-04-01'
  const { code, stderr } = await assay(
    ['report', ...words.split(' '), '--out', 'all.html', '--each', 'of each'].concat(
      ...['--upload', 's3://pages/march'],
    ),
    { cwd: folder, env },
  ).ended
  expect(code, stderr).toBe(0)
  const page = objects.get('/pages/march/all.html')!.toString()
  const links = [...page.matchAll(/<a href="(of%20each[^"]+)"/g)].map(([, link]) => link!)
  expect(links.length).toBeGreaterThan(1)
  expect([...objects.keys()].toSorted()).toEqual(
    ['all.html', ...links].map((link) => `/pages/march/${link}`).toSorted(),
  )
})

test('a file of several parts arrives complete', async () => {
  const { objects, folder, env } = await bucketServer()
  for (const [name, value] of Object.entries(env)) process.env[name] = value
  onTestFinished(() => {
    for (const name of Object.keys(env)) delete process.env[name]
  })
  const file = join(folder, 'large.duckdb')
  const bytes = Buffer.alloc(11 << 20, 'assay')
  writeFileSync(file, bytes)
  const { uploadTo } = await import('../../src/cli/runs/upload.ts')
  await (await uploadTo('s3://stores'))(file)
  expect(objects.get('/stores/large.duckdb')?.equals(bytes)).toBe(true)
})

test('a bucket that refuses is reported in one sentence without the secret, and the page stays', {
  tags: 'whole',
}, async () => {
  const { folder, env } = await bucketServer(403)
  const store = await seededStore({ attempts: 200, path: join(folder, 'assay.duckdb') })
  store.close()
  const { code, stdout, stderr } = await assay(['report', 'launch', '--upload', 's3://pages'], {
    cwd: folder,
    env,
  }).ended
  expect({ code, stdout }).toEqual({ code: 4, stdout: '' })
  expect(stderr).toContain(
    '--upload: s3://pages did not accept the files (AccessDenied: No.). They are here: assay-launch.html.\n',
  )
  expect(stderr).not.toContain(secret)
})

test('an address that is not a bucket is refused before anything is sent', {
  tags: 'whole',
}, async () => {
  const { code, stderr } = await assay(
    ['bench', 'http://127.0.0.1:1', '--model', 'm', '--upload', 'https://x'],
    {},
  ).ended
  expect(stderr).toBe('--upload: expected s3://bucket/prefix; got https://x.\n')
  expect(code).toBe(2)
})
