import type { WorkflowHead } from "../definition/storage";

/** Members that are read for one purpose. A workflow can be large, so reads name what they need. */

export const SCHEMA = {
  ...{ name: 1, description: 1, fieldsJson: 1, valuesJson: 1, generators: 1 },
  ...{ createdBy: 1, creationId: 1, published: 1, aliases: 1, approved: 1, approvedDraft: 1 },
} as const;
export const BUNDLED_HEAD = {
  ...{
    createdBy: 1,
    creationId: 1,
    revision: 1,
    name: 1,
    description: 1,
    tags: 1,
    graphDigest: 1,
    published: 1,
    aliases: 1,
    bundle: 1,
    testsJson: 1,
  },
} as const;
export const TOOL = { name: 1, description: 1, fieldsJson: 1, resultsJson: 1, creationId: 1, published: 1, aliases: 1 } as const;
export const APP = {
  ...{ name: 1, description: 1, fieldsJson: 1, valuesJson: 1 },
  ...{ createdBy: 1, createdAt: 1, creationId: 1, published: 1, aliases: 1, approved: 1, app: 1 },
} as const;
export const HEAD = {
  _id: 0,
  name: 1,
  revision: 1,
  createdBy: 1,
  creationId: 1,
  published: 1,
  aliases: 1,
  approved: 1,
  approvedDraft: 1,
  isTemplate: 1,
  retentionDays: 1,
} as const satisfies Record<keyof WorkflowHead | "_id", 0 | 1>;
export const SHOWN_FILES = {
  ...{ _id: 0, creationId: 1, published: 1, thumbnail: 1, thumbnailRef: 1 },
  ...{ coverJson: 1, app: 1, fieldsJson: 1, valuesJson: 1 },
} as const;
