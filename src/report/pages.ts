import type { TagDimension } from '../measure/usage/tags.ts'

export const pageNames = ['launch', 'audit', 'usage', 'run'] as const
export type PageName = (typeof pageNames)[number]

/** The formats without charts. */
export const textFormats = ['md', 'json', 'csv'] as const
export type TextFormat = (typeof textFormats)[number]

/**
 * Dimensions that split the usage page. They are apart from the page's types because the command line imports them.
 */
export const usageDimensions = ['model', 'key', 'endpoint', 'account'] as const
export type UsageDimension = (typeof usageDimensions)[number] | TagDimension

/** For whom a page is: `customer` of usage, `vendor` of the audit. */
export const pageReaders = ['operator', 'customer', 'vendor'] as const

/** The costs of a FOCUS export: what is billed, or what each use cost. */
export const focusViews = ['billing', 'showback'] as const
export type FocusView = (typeof focusViews)[number]
