import { ConflictTile } from './conflict-tile.tsx';
import { FreeSpaceTile } from './free-space-tile.tsx';
import { MovingTile } from './moving-tile.tsx';
import { OperationsTile } from './operations-tile.tsx';
import { ThroughputTile } from './throughput-tile.tsx';
import classes from './tiles.module.css';

/** The parts below the members, each a summary of another view. */
export function Tiles() {
  return (
    <div className={classes.tiles}>
      <ThroughputTile />
      <MovingTile />
      <OperationsTile />
      <ConflictTile />
      <FreeSpaceTile />
    </div>
  );
}
