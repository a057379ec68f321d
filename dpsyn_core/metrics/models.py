"""The models of the learning metric, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpsyn_core.errors import MetricError

# gradient boosting: the parameters of Takagi et al. 2021 (P3GM), section VI
PAPER = {"max_features": "sqrt", "max_depth": 8, "min_samples_leaf": 50, "min_samples_split": 200}
DEFAULT = ("logistic", "adaboost", "gradient-boosting", "hist-gradient-boosting")


def classifier(name: str, seed: int) -> Any:
    """A fresh classifier. Raises MetricError for an unknown name, or when its library is not installed."""
    from sklearn import ensemble
    from sklearn.linear_model import LogisticRegression

    made: dict[str, Callable[[], Any]] = {
        "logistic": lambda: LogisticRegression(max_iter=300),
        "adaboost": lambda: ensemble.AdaBoostClassifier(random_state=seed),
        "gradient-boosting": lambda: ensemble.GradientBoostingClassifier(random_state=seed, **PAPER),
        "hist-gradient-boosting": lambda: ensemble.HistGradientBoostingClassifier(random_state=seed),
        "xgboost": lambda: _xgboost("XGBClassifier", seed),
    }
    return _make(name, made)


def regressor(name: str, seed: int) -> Any:
    """A fresh regressor of the same family; `logistic` stands for ridge regression."""
    from sklearn import ensemble
    from sklearn.linear_model import Ridge

    made: dict[str, Callable[[], Any]] = {
        "logistic": lambda: Ridge(),
        "adaboost": lambda: ensemble.AdaBoostRegressor(random_state=seed),
        "gradient-boosting": lambda: ensemble.GradientBoostingRegressor(random_state=seed, **PAPER),
        "hist-gradient-boosting": lambda: ensemble.HistGradientBoostingRegressor(random_state=seed),
        "xgboost": lambda: _xgboost("XGBRegressor", seed),
    }
    return _make(name, made)


def _make(name: str, made: dict[str, Callable[[], Any]]) -> Any:
    if name not in made:
        msg = f"unknown model '{name}'; known are {', '.join(made)}"
        raise MetricError(msg)
    return made[name]()


def _xgboost(kind: str, seed: int) -> Any:
    try:
        import xgboost
    except ImportError as error:
        msg = "the model 'xgboost' needs the package xgboost; install it, or leave the model out"
        raise MetricError(msg) from error
    return getattr(xgboost, kind)(random_state=seed, n_jobs=1)
