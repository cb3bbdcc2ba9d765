import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
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
import { uploadTo } from './upload.ts'

export async function reportAction(
  page: PageName,
  runIds: readonly string[],
  options: Options,
): Promise<void> {
  const out = options.out ?? `assay-${page}.html`
  if (options.for === 'customer') {
    if (page !== 'usage') {
      throw userError.usage(`--for customer is of the page usage, not of ${page}.`)
    }
    const { customerPage } = await import('../usage/customer-page.ts')
    const upload = await uploadTo(options.upload)
    writeOutput(out, await customerPage(options))
    await upload(out)
    process.stdout.write(
      options.json
        ? `${JSON.stringify({ page, out, pictures: [] })}\n`
        : `${out}\n${nextLine(['usage', 'check', ...optionWords('--settings', options.settings)], 'checks the settings by which customers are served')}`,
    )
    return
  }
  if (options.for === 'vendor') {
    if (page !== 'audit') {
      throw userError.usage(`--for vendor is of the page audit, not of ${page}.`)
    }
    const { vendorAction } = await import('../audits/evidence.ts')
    return vendorAction(runIds, options)
  }
  if (page === 'usage' && options.by === 'account' && options.settings !== undefined) {
    return customersAction(out, options)
  }
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
  process.stdout.write(
    options.json
      ? `${JSON.stringify({ page, out, pictures })}\n`
      : `${[out, ...pictures].join('\n')}\n${afterPage(page, runIds, options)}`,
  )
}

/** The operator's rows, and each customer's page. */
async function customersAction(out: string, options: Options): Promise<void> {
  const { customersPage } = await import('../usage/customer-page.ts')
  const upload = await uploadTo(options.upload)
  const { text, pages } = await customersPage(out, options)
  if (options.format !== 'html' && options.out === undefined) return void process.stdout.write(text)
  writeOutput(out, text)
  const { each = '.' } = options
  if (pages.size > 0) mkdirSync(each, { recursive: true })
  for (const [name, one] of pages) writeOutput(join(each, name), one)
  await upload(out)
  const next = ['report', 'usage', ...storeWords(options.db), '--for', 'customer', '--account']
  const words = [...next, 'ACCOUNT', ...optionWords('--settings', options.settings)]
  process.stdout.write(
    options.json
      ? `${JSON.stringify({ page: 'usage', out, pictures: [] })}\n`
      : `${out}\n${nextLine(words, 'makes the page that one of them sees')}`,
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
