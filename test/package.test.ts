import { execFile } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

interface Lock {
  packages: Record<
    string,
    {
      version?: string
      resolved?: string
      optionalDependencies?: Record<string, string>
    }
  >
}

interface Manifest {
  readonly version: string
  readonly bin: { readonly assay: string }
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly scripts: Readonly<Record<string, string>>
}

const run = promisify(execFile)
const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest
const { libraries: bundled } = JSON.parse(readFileSync('bundled.json', 'utf8')) as {
  readonly libraries: readonly string[]
}
const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock

test('the lockfile names no registry host, so any registry can be used to install', () => {
  const withHost = Object.entries(lock.packages).filter(([, entry]) => entry.resolved !== undefined)
  expect(withHost.map(([path]) => path)).toEqual([])
})

test('every platform package that a dependency lists is in the lockfile', () => {
  const missing = Object.values(lock.packages).flatMap((entry) =>
    Object.keys(entry.optionalDependencies ?? {}).filter(
      (name) => !Object.keys(lock.packages).some((path) => path.endsWith(`node_modules/${name}`)),
    ),
  )
  expect(missing).toEqual([])
})

test('dependencies are pinned exactly', () => {
  const all = { ...manifest.dependencies, ...manifest.devDependencies }
  expect(Object.entries(all).filter(([, version]) => !/^\d+\.\d+\.\d+/.test(version))).toEqual([])
})

test('the published package has its licence and every asset that the code reads', {
  tags: 'whole',
}, async () => {
  const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'])
  const packed = new Set(
    (JSON.parse(stdout) as [{ files: { path: string }[] }])[0].files.map(({ path }) => path),
  )
  const assets = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.\w+$/.test(name) && !/\.(ts|md)$/.test(name))
    .map((name) => `src/${name}`)
  expect(['LICENSE', manifest.bin.assay, ...assets].filter((path) => !packed.has(path))).toEqual([])
  const ours = /^(?:test|docs\/images|docs\/decisions)\/|\.map$/
  expect([...packed].filter((path) => ours.test(path))).toEqual([])
  expect(readFileSync('LICENSE', 'utf8')).toContain(
    'Apache License\n                           Version 2.0',
  )
})

test('docs/dependencies.md has a row for each library that is installed or in the bundle, and for no other', () => {
  const rows = readFileSync('docs/dependencies.md', 'utf8').matchAll(/^\| (`.*?) \|/gm)
  const listed = [...rows].flatMap((row) => row[1]!.split(', ').map((name) => name.slice(1, -1)))
  expect(listed.sort()).toEqual([...Object.keys(manifest.dependencies), ...bundled].sort())
})

test('a library that is whole in the bundle is not installed as well', () => {
  expect(bundled.filter((name) => name in manifest.dependencies)).toEqual([])
  expect(bundled.filter((name) => !(name in manifest.devDependencies))).toEqual([])
})

test('the changelog begins with the version of the package', () => {
  const [, newest] = /^## (\S+?)[:\s]/m.exec(readFileSync('CHANGELOG.md', 'utf8'))!
  expect(newest).toBe(manifest.version)
})

test('the published package has no install scripts', () => {
  const install = ['preinstall', 'install', 'postinstall', 'prepare', 'preprepare', 'postprepare']
  expect(install.filter((name) => name in manifest.scripts)).toEqual([])
})

test.each([
  ['20.20.2', 'this is 20.20'],
  ['22.18.0', 'this is 22.18'],
])('Node %s gets one sentence and no stack', async (version, words) => {
  // A separate program, so no other Node version needs to be installed.
  const pretend = `Object.defineProperty(process, 'versions', { value: { node: '${version}' } })`
  const older = ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`]
  const ended = await run(process.execPath, [...older, manifest.bin.assay, 'runs']).catch(
    (error: unknown) => error,
  )
  expect(ended).toMatchObject({
    code: 2,
    stdout: '',
    stderr: `assay needs Node 22.19 or newer, ${words}.\n`,
  })
})

test('the command runs from a checkout without a build, and from the built package', async () => {
  const version = `${manifest.version}\n`
  expect((await run(process.execPath, [manifest.bin.assay, '--version'])).stdout).toBe(version)
  const folder = mkdtempSync(join(tmpdir(), 'assay-package-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'dist/cli'), { recursive: true })
  mkdirSync(join(folder, 'src/cli'), { recursive: true })
  copyFileSync('package.json', join(folder, 'package.json'))
  writeFileSync(join(folder, 'dist/cli/main.js'), 'process.stdout.write("built")')
  copyFileSync(manifest.bin.assay, join(folder, manifest.bin.assay))
  expect((await run(process.execPath, [join(folder, manifest.bin.assay)])).stdout).toBe('built')
})
