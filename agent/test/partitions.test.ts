import { partitionOf5 } from '../../testkit/scenes/partition.ts';
import { sceneTest } from '../../testkit/vitest/scene-test.ts';

sceneTest('[CF1] [MG4]', partitionOf5);
