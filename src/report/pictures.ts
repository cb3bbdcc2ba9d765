import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { renderPng } from '../chart/png.ts'
import { writeOutput } from '../store/files/output.ts'
import { cannotWrite } from '../store/session/errors.ts'
import { inSession, type Session } from '../store/session/session.ts'
import { beginPart } from '../user/work.ts'
import { partsOf, prepareTop, type ReportOptions, rowsOf } from './page.ts'

const widths = { whole: 1040, half: 640 } as const

/**
 * Writes each chart of a page as a PNG, `NN-name.png`, into a folder.
 *
 * @returns the files, and the charts' warnings
 * @throws UserError as `makeReport` does
 */
export const writePictures = (options: PictureOptions): Promise<Pictures> =>
  inSession(options.store, options, (session) => drawPictures(session, options))

interface PictureOptions extends ReportOptions {
  readonly folder: string
}

interface Pictures {
  readonly files: readonly string[]
  /** Warnings of charts. */
  readonly warnings: readonly string[]
}

async function drawPictures(session: Session, options: PictureOptions): Promise<Pictures> {
  const { page, folder } = options
  const { unit } = await prepareTop(session, options)
  try {
    mkdirSync(folder, { recursive: true })
  } catch (error) {
    throw cannotWrite(folder, error)
  }
  const files: string[] = []
  const warnings: string[] = []
  const parts = partsOf(page, options.reportsFolder, unit)
  for (const [at, part] of parts.entries()) {
    if (part.chart === null) continue
    beginPart(options, `picture ${part.name}`, at, parts.length)
    const rows = await rowsOf(session, part)
    if (rows.length === 0 && part.front.optional === true) continue
    const widthPx = widths[part.front.wide === true ? 'whole' : 'half']
    const picture = await renderPng(part.chart, rows, { widthPx })
    const file = join(folder, `${part.name}.png`)
    writeOutput(file, picture.png)
    files.push(file)
    for (const each of picture.warnings) warnings.push(each)
  }
  return { files, warnings }
}
