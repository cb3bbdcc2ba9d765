import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { UserError } from '../../user/user-error.ts'
import type { Settings } from '../settings/settings.ts'
import { contrast, grounds, leastContrast, mixedUntilReadable } from './accent.ts'

const mostLogoBytes = 50_000

/** @throws UserError for a logo that is not a plain SVG of at most 50 kB */
export function readLogo({ logo, folder }: Settings): string | null {
  if (logo === undefined) return null
  const file = resolve(folder, logo)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    throw new UserError('usage', `logo: ${file} cannot be read.`)
  }
  const isPlain =
    /<svg[\s>]/i.test(text) &&
    !/<script|<foreignObject|<!ENTITY|\son\w+\s*=|javascript:|(?:href|src)\s*=\s*["']?\s*(?!#|data:image\/(?:png|jpeg))|url\(\s*["']?(?!#)|@import/i.test(
      text,
    )
  if (Buffer.byteLength(text) > mostLogoBytes || !isPlain) {
    throw new UserError(
      'usage',
      `logo: ${file}: expected an SVG of at most 50 kB without scripts, outer links and imports.`,
    )
  }
  return text
}

/** @throws UserError for an accent that cannot be read on a light page, with the nearest that can */
export function checkAccent({ accent }: Pick<Settings, 'accent'>): void {
  const ratio = contrast(accent, grounds.light)
  if (ratio >= leastContrast) return
  throw new UserError(
    'usage',
    `accent: ${accent} has a contrast of ${ratio.toFixed(2)} on white, expected ${leastContrast}:1. ${mixedUntilReadable(accent, '#000000', grounds.light)} passes.`,
  )
}
