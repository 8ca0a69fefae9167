"""Exceptions: a class for each kind of error, with the builtin class that NumPy would raise as a further base."""

from __future__ import annotations


class Error(Exception):
    """An error of this package: ``code`` is its stable name, ``where`` the pair of file and line, if it is known."""

    code: str = "Invalid"
    where: tuple[str, int] | None = None

    def __str__(self) -> str:
        # `KeyError` would quote the text.
        return str(self.args[0]) if self.args else ""


class ShapeError(Error, ValueError):
    """Shapes that do not fit."""


class DTypeError(Error, TypeError):
    """Element types that do not fit, or objects that are no arrays."""


class ArgumentError(Error, ValueError):
    """A wrong number of arguments, or a value out of range."""


class ProgramError(Error, ValueError):
    """A text that is no program."""


class UnknownNameError(ProgramError, KeyError):
    """A function or an argument that a program does not have."""


class DifferentiationError(Error, TypeError):
    """A derivative that does not exist."""


class StructureError(Error, TypeError):
    """Branches or carries of different structures or types."""


class TraceError(Error, RuntimeError):
    """A traced value outside its trace."""


class ConcretizationError(TraceError, TypeError):
    """A use of elements that are known only when the program runs."""


class TapeError(Error, RuntimeError):
    """A reverse pass that is not possible any more, or a gradient that would be lost."""


class OutOfBoundsError(Error, IndexError):
    """An index out of bounds."""


class LinAlgError(Error, ValueError):
    """A matrix without the factor or the solution that was asked for."""


class NotConvergedError(Error, ArithmeticError):
    """An iteration that ended without a solution."""


class CheckError(Error, AssertionError):
    """A check that found a difference."""


class LimitError(Error, MemoryError):
    """A limit of size, depth or memory."""


class FileError(Error, OSError):
    """A file that cannot be read or written."""


class MissingFileError(FileError, FileNotFoundError):
    """A file that is not there."""


class DeviceError(Error, RuntimeError):
    """A device that lacks a function, failed, or is not that of other arrays."""


class InternalError(Error):
    """A defect of this package: please report it."""


_CLASSES: dict[str, type[BaseException]] = {
    "ShapeMismatch": ShapeError,
    "DTypeMismatch": DTypeError, "UnknownDType": DTypeError,
    "Arity": ArgumentError, "Attribute": ArgumentError, "Input": ArgumentError,
    "Syntax": ProgramError, "UnknownOperation": ProgramError, "DuplicateName": ProgramError, "Invalid": ProgramError,
    "UnknownName": UnknownNameError,
    "BranchMismatch": StructureError, "CarryMismatch": StructureError,
    "ForeignValue": TraceError, "Unbound": TraceError, "Busy": TraceError,
    "Concretization": ConcretizationError,
    "GraphFreed": TapeError, "ModifiedInPlace": TapeError,
    "OutOfBounds": OutOfBoundsError,
    "NotPositiveDefinite": LinAlgError, "Singular": LinAlgError, "RankDeficient": LinAlgError,
    "DegenerateSpectrum": LinAlgError,
    "NotConverged": NotConvergedError,
    "CheckFailed": CheckError,
    "Limit": LimitError, "OutOfMemory": LimitError,
    "Unsupported": DeviceError, "DeviceMismatch": DeviceError, "DeviceLost": DeviceError,
    "Io": FileError, "FileNotFound": MissingFileError,
    "Interrupted": KeyboardInterrupt,
}
for _code in ("NonScalarOutput ComplexLoss IntegerInput IntegerOutput NoRule NotLinear RuleArity RuleType SeedMismatch "
              "TangentMismatch CustomVjpForward EffectInCheckpoint RankVaries ReverseWhile").split():
    _CLASSES[_code] = DifferentiationError


def of_code(code: str, message: str, where: tuple[str, int] | None = None) -> BaseException:
    """The exception of a stable code."""
    error = _CLASSES.get(code, InternalError)(message)
    if isinstance(error, Error):
        error.code, error.where = code, where
    return error
