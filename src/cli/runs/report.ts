import { mkdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { loadContract } from '../../contract/load.ts'
import { loadProfile } from '../../contract/load-profile.ts'
import { writeReport } from '../../public/report.ts'
import type { PageName } from '../../report/pages.ts'
import { makeText } from '../../report/text.ts'
import { writeOutput } from '../../store/files/output.ts'
import { userError } from '../../user/user-error.ts'
import type { Options } from '../commands/report.ts'
import { contractWords, nextLine, optionWords, storeWords } from '../terminal/next.ts'
import { shown } from '../terminal/progress.ts'
import { openUsage, usageScopeOf } from '../usage/usage-scope.ts'
import { kindOf } from './report-kinds.ts'
import { uploadTo } from './upload.ts'

/** @param given the options that the user wrote */
export async function reportAction(
  page: PageName,
  runIds: readonly string[],
  options: Options,
  given: readonly string[],
): Promise<void> {
  const out = options.out ?? `assay-${page}.html`
  switch (kindOf(page, runIds, options, given)) {
    case 'customer':
      return customerAction(out, options)
    case 'customers':
      return customersAction(out, options)
    case 'vendor':
      return (await import('../audits/evidence.ts')).vendorAction(runIds, options)
    default:
      return pageAction(page, out, runIds, options)
  }
}

async function pageAction(
  page: PageName,
  out: string,
  runIds: readonly string[],
  options: Options,
): Promise<void> {
  const scope = usageScopeOf(options)
  const upload = await uploadTo(options.upload)
  const place = page === 'usage' ? options : {}
  const { store, engine, close } = await openUsage(options.db, place, runIds)
  const usage = engine === undefined ? scope : { ...scope, engine }
  let pictures: readonly string[] = []
  try {
    const asked = {
      store,
      page,
      contract: loadContract(options.contract),
      ...(options.contract === undefined ? {} : { contractFile: options.contract }),
      runIds,
      timeZone: options.timezone,
      nowUs: Date.now() * 1000,
      usage,
      ...(options.reports === undefined ? {} : { reportsFolder: options.reports }),
      ...(options.profile === undefined
        ? {}
        : { profile: loadProfile(options.profile, '--profile') }),
    }
    const { format } = options
    if (format !== 'html') {
      const text = await shown((view) => makeText({ ...asked, ...view }, format))
      if (options.out === undefined) process.stdout.write(text)
      else {
        writeOutput(options.out, text)
        await upload(options.out)
        if (options.json) printFiles(page, options.out)
      }
      return
    }
    const made = await shown((view) => writeReport(store, { ...asked, ...view, out }))
    const warnings = [...made.warnings]
    if (options.png !== undefined) {
      const folder = options.png
      // Its renderer is loaded only for pictures.
      const { writePictures } = await import('../../report/pictures.ts')
      const written = await shown((view) => writePictures({ ...asked, ...view, folder }))
      pictures = written.files
      for (const each of written.warnings) warnings.push(each)
    }
    for (const warning of new Set(warnings)) process.stderr.write(`${warning}\n`)
  } finally {
    await close()
  }
  await upload(out, ...pictures)
  if (options.json) printFiles(page, out, { pictures })
  else process.stdout.write(`${[out, ...pictures].join('\n')}\n${afterPage(page, runIds, options)}`)
}

/** What `--json` prints: the files that were written. */
const printFiles = (
  page: PageName,
  out: string,
  more: { readonly pictures?: readonly string[]; readonly pages?: readonly string[] } = {},
) => process.stdout.write(`${JSON.stringify({ page, out, pictures: [], ...more })}\n`)

/** The page that one customer sees. */
async function customerAction(out: string, options: Options): Promise<void> {
  const { customerPage } = await import('../usage/customer-page.ts')
  const upload = await uploadTo(options.upload)
  writeOutput(out, await customerPage(options))
  await upload(out)
  if (options.json) printFiles('usage', out)
  else
    process.stdout.write(
      `${out}\n${nextLine(['usage', 'check', ...optionWords('--settings', options.settings)], 'checks the settings by which customers are served')}`,
    )
}

/** The operator's rows, and each customer's page. */
async function customersAction(out: string, options: Options): Promise<void> {
  const { customersPage } = await import('../usage/customer-page.ts')
  const { each = '.', format } = options
  const upload = await uploadTo(options.upload)
  const beside = relative(dirname(out), each)
  if (options.upload !== undefined && /^\.\.(?:[/\\]|$)/.test(beside))
    throw userError.usage(
      `--upload: the page of all links to those in ${each}, which is not in its folder ${dirname(out)}. Choose --each in it.`,
    )
  const { text, pages } = await customersPage(out, options)
  if (format !== 'html' && options.out === undefined) return void process.stdout.write(text)
  writeOutput(out, text)
  if (pages.size > 0) mkdirSync(each, { recursive: true })
  const written = [...pages].map(([name, page]) => {
    const path = join(each, name)
    writeOutput(path, page)
    return { path, name: join(beside, name) }
  })
  await upload(out, ...written)
  const files = written.map(({ path }) => path)
  const next = ['report', 'usage', ...storeWords(options.db), '--for', 'customer', '--account']
  const words = [...next, 'ACCOUNT', ...optionWords('--settings', options.settings)]
  if (options.json) printFiles('usage', out, { pages: files })
  else
    process.stdout.write(
      `${[out, ...files].join('\n')}\n${nextLine(words, 'makes the page that one of them sees')}`,
    )
}

/** The next command after a page. */
function afterPage(page: PageName, runIds: readonly string[], options: Options): string {
  const { db, contract, profile } = options
  const given = [...runIds, ...storeWords(db), ...contractWords(contract)]
  switch (page) {
    case 'usage':
      return nextLine(
        ['export', 'sums', ...storeWords(db), '--out', 'sums.csv'],
        'writes its sums for a spreadsheet',
      )
    case 'audit':
      return nextLine(
        ['report', 'audit', ...given, ...optionWords('--profile', profile), '--for', 'vendor'],
        'writes the evidence for the vendor',
      )
    case 'launch':
    case 'run':
      return nextLine(['audit', ...given], 'judges it by every rule')
  }
}
