import type { Headline, Tone } from '../banner.ts'
import { atDigits, percentAtMost } from '../format.ts'
import type { Certificate, CertificatePart, CertificateVerdict } from './shape.ts'

const toneOf: Readonly<Record<CertificateVerdict, Tone>> = {
  pass: 'good',
  fail: 'fail',
  inconclusive: 'warn',
}
const titleOf: Readonly<Record<CertificatePart['part'], string>> = {
  rate: 'Rate:',
  answers: 'Answers:',
  model: 'Model:',
  charges: 'Charges:',
}
const namedOf = ({ parts }: Certificate, verdict: CertificateVerdict) =>
  parts
    .filter((part) => part.verdict === verdict)
    .map(({ part }) => part)
    .join(', ')

/** The verdict in one line: `Not certified: model failed`. */
export function certificateTitle(certificate: Certificate): string {
  switch (certificate.verdict) {
    case 'pass':
      return `Certified: ${certificate.rate}, with right answers, the same model and right charges`
    case 'fail':
      return `Not certified: ${namedOf(certificate, 'fail')} failed`
    case 'inconclusive':
      return `Not certified yet: ${namedOf(certificate, 'inconclusive')} not decided`
  }
}

/** How often the verdict errs by chance, in whole sentences. */
export function chanceText({ verdict, parts }: Certificate): string {
  switch (verdict) {
    case 'pass':
      return `If one of these is not so, this verdict comes by chance in at most ${jointText(parts)}.`
    case 'fail':
      return parts
        .filter((part) => part.verdict === 'fail')
        .map(failureText)
        .join(' ')
    case 'inconclusive':
      return `What is not decided is no pass. A certificate would come by chance in at most ${jointText(parts)}.`
  }
}

/** The sum of the parts as they are shown, each of which is rounded up. */
function jointText(parts: Certificate['parts']): string {
  const percents = parts.map((part) => atDigits(100 * part.passesByChance, 2, Math.ceil))
  const joint = Math.min(100, Number(percents.reduce((sum, each) => sum + each, 0).toPrecision(12)))
  return `${joint} % of such runs, the sum of ${parts.map(({ part }, at) => `${part} ${percents[at]} %`).join(', ')}`
}

/** What a part found, and how often it finds that by chance. */
function saidOf({ verdict, said, passesByChance, failsByChance }: CertificatePart): string {
  if (verdict === 'inconclusive') return said
  const errs = verdict === 'pass' ? passesByChance : failsByChance
  if (errs === null) return `${said}; how often by chance is not known`
  return errs === 0
    ? `${said}; no matter of chance`
    : `${said}; by chance in at most ${percentAtMost(errs)} of runs`
}

function failureText({ part, failsByChance }: CertificatePart): string {
  if (failsByChance === null)
    return 'How often a service that sustains a rate is given none is not known.'
  return failsByChance === 0
    ? `That ${part} failed is no matter of chance.`
    : `If ${part === 'model' ? 'the model is the same' : 'the threshold is kept'}, this failure comes by chance in at most ${percentAtMost(failsByChance)} of such runs.`
}

/** The answer of a page with its certificate first. */
export function certifiedHeadline(certificate: Certificate, answer: Headline): Headline {
  return {
    ...answer,
    tone: toneOf[certificate.verdict],
    summary: certificateTitle(certificate),
    because: `${chanceText(certificate)} ${answer.because}`,
    checks: [
      ...certificate.parts.map((part) => ({
        ...{
          tone: toneOf[part.verdict],
          name: titleOf[part.part],
          figure: saidOf(part),
          remedy: null,
        },
      })),
      ...answer.checks,
    ],
  }
}

/** The certificate line by line, as text: the verdict, how often it errs, and each part. */
export const certificateLines = (certificate: Certificate): readonly string[] => [
  `${certificateTitle(certificate)}.`,
  chanceText(certificate),
  ...certificate.parts.map((part) => `${titleOf[part.part]} ${part.verdict}, ${saidOf(part)}.`),
]
