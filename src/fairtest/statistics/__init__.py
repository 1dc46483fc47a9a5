"""Tests, intervals and resampling: functions of summaries that know no metric."""
