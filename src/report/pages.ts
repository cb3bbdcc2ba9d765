/** The pages that a store can be made into. */
export const pageNames = ['launch', 'audit', 'usage', 'run'] as const
export type PageName = (typeof pageNames)[number]

/** The formats of a page without pictures. */
export const textFormats = ['md', 'json', 'csv'] as const
export type TextFormat = (typeof textFormats)[number]

/** What the usage page can be split by. The command line reads it, so it stands apart from the types of that page. */
export const usageDimensions = ['model', 'key', 'endpoint'] as const
export type UsageDimension = (typeof usageDimensions)[number]
