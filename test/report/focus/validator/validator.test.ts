import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { installPython, pythonOf } from '../../../clients/python.ts'

/**
 * The validator of the FinOps Foundation, by night. It is a second opinion: what it does not look at, our own checks do
 * (`focus.test.ts`). The samples are what Assay writes, byte for byte.
 */

const here = import.meta.dirname

/** What a program prints; empty if it cannot run. */
function said(program: string, ...words: readonly string[]): string {
  try {
    return execFileSync(program, words, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return ''
  }
}

/** Python 3.12: on an older one, pip installs a validator of another year without a word. */
const newPython = () =>
  [
    ...['python3.12', 'python3.13', 'python3'],
    ...['3.12', '3.13'].map(
      (version) =>
        `${said('pyenv', 'root')}/versions/${said('pyenv', 'latest', version)}/bin/python3`,
    ),
  ].find((name) => said(name, '-c', 'import sys; print(sys.version_info >= (3, 12))') === 'True')
const maker = process.env.NIGHTLY === undefined ? undefined : newPython()
const isNight = maker !== undefined

const criteria = [
  ...['ACCOUNT_NAMING_SUPPORTED', 'NEGOTIATED_PRICING_SUPPORTED', 'PUBLIC_PRICE_LIST_SUPPORTED'],
  ...['USAGE_MEASUREMENT_SUPPORTED', 'UNIT_PRICING_SUPPORTED', 'SUB_ACCOUNT_SUPPORTED'],
  ...['PRICING_BILLING_CURRENCY_DIFFERENCES_SUPPORTED', 'VIRTUAL_CURRENCY_SUPPORTED'],
  'TAGGING_SUPPORTED',
]

beforeAll(() => {
  if (isNight) installPython(here, maker)
}, 600_000)

/** The rules that fail. The exit code is 0 in every case. */
function failures(sample: string): readonly string[] {
  const library = join(here, '.python/lib')
  const [version] = readdirSync(library)
  const printed = execFileSync(
    pythonOf(here),
    [
      ...['-c', 'from focus_validator.main import main; main()'],
      ...['--data-file', join(here, '..', sample), '--validate-version', '1.2', '--block-download'],
      ...['--applicability-criteria', criteria.join(',')],
    ],
    // It looks for its list of currencies below the current folder.
    { cwd: join(library, version!, 'site-packages'), encoding: 'utf8', stdio: 'pipe' },
  )
  expect(printed).toMatch(/^Total: 578 /m)
  return [...printed.matchAll(/^.*FAIL.*$/gm)].flatMap(
    ([line]) => /[A-Z]\w+-C-\d{3}-[A-Z]/.exec(line) ?? [],
  )
}

/** One branch of an "or" whose parent passes: all InvoiceIds set fail 004, none set fail 005. */
const unavoidable = ['InvoiceId-C-004-C']

test.runIf(isNight)(
  'the official validator fails only the rule that no file can satisfy',
  () => {
    expect(failures('focus-1.2-pass.csv')).toEqual(unavoidable)
  },
  600_000,
)

test.runIf(isNight)(
  'a virtual currency by its name fails one rule more, and its parent',
  () => {
    expect(failures('focus-1.2-credits.csv')).toEqual([
      ...unavoidable,
      'PricingCurrency-C-000-C',
      'PricingCurrency-C-003-M',
    ])
  },
  600_000,
)
