import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

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

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock

test('the lockfile names no host of a registry, so it installs from whichever is reached', () => {
  const withHost = Object.entries(lock.packages).filter(([, entry]) => entry.resolved !== undefined)
  expect(withHost.map(([path]) => path)).toEqual([])
})

test('every platform package that a dependency lists stands in the lockfile', () => {
  const missing = Object.values(lock.packages).flatMap((entry) =>
    Object.keys(entry.optionalDependencies ?? {}).filter(
      (name) => !Object.keys(lock.packages).some((path) => path.endsWith(`node_modules/${name}`)),
    ),
  )
  expect(missing).toEqual([])
})

test('dependencies are pinned exactly', () => {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Record<
    string,
    Record<string, string>
  >
  const all = { ...manifest.dependencies, ...manifest.devDependencies }
  expect(Object.entries(all).filter(([, version]) => !/^\d+\.\d+\.\d+/.test(version))).toEqual([])
})

test('the published package holds every file that the code reads beside itself', async () => {
  const { stdout } = await promisify(execFile)('npm', [
    'pack',
    '--dry-run',
    '--json',
    '--ignore-scripts',
  ])
  const packed = new Set(
    (JSON.parse(stdout) as [{ files: { path: string }[] }])[0].files.map(({ path }) => path),
  )
  const assets = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.\w+$/.test(name) && !name.endsWith('.ts'))
    .map((name) => `src/${name}`)
  expect(assets.filter((path) => !packed.has(path))).toEqual([])
  expect([...packed].filter((path) => path.startsWith('test/'))).toEqual([])
})
